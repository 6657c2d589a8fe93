export interface PythonEnvironment {
  /** Its directory. */
  readonly directory: string;
  /** What a process needs to be in it. */
  readonly env: Readonly<Record<string, string>>;
}

/** The virtual or conda environment that is active in this shell; null: none. */
export function findPythonEnvironment(shell: NodeJS.ProcessEnv = process.env): PythonEnvironment | null {
  const { VIRTUAL_ENV, CONDA_PREFIX, CONDA_DEFAULT_ENV, PATH } = shell;
  if (!PATH) return null;
  if (VIRTUAL_ENV) return { directory: VIRTUAL_ENV, env: { VIRTUAL_ENV, PATH } };
  if (!CONDA_PREFIX) return null;
  return {
    directory: CONDA_PREFIX,
    env: { CONDA_PREFIX, PATH, ...(CONDA_DEFAULT_ENV && { CONDA_DEFAULT_ENV }) },
  };
}
