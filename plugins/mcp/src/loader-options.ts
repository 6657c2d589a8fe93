const LOADING = /^(--import|--require|-r|--loader|--experimental-loader|--conditions|-C)(=.*)?$/;
const ALONE = /^--(enable-source-maps|preserve-symlinks(-main)?|experimental-[\w-]*types)$/;

/** The options by which a process of Node.js loads modules, as from source in tests: not its debugger, nor a script or a test runner. */
export function loaderOptions(execArgv: readonly string[]): string[] {
  return execArgv.flatMap((option, at) => {
    const loading = LOADING.exec(option);
    if (!loading) return ALONE.test(option) ? [option] : [];
    const value = execArgv[at + 1];
    return loading[2] !== undefined || value === undefined ? [option] : [option, value];
  });
}
