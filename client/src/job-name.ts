/** Programs that run what one of their arguments names. */
const LAUNCHER =
  /^(python[\d.]*|pypy[\d.]*|uv|poetry|conda|torchrun|accelerate|deepspeed|mpirun|bash|sh|zsh|node|Rscript|julia|nice|env|time)$/;
const SCRIPT = /\.(py|sh|bash|js|mjs|cjs|ts|R|jl|pl|rb)$/;

/** The name of a job that was given none: its script's where a launcher runs one. undefined: that of the program, as the server has it. */
export function toJobName([program = '', ...words]: readonly string[]): string | undefined {
  if (!LAUNCHER.test(toBase(program))) return undefined;
  const script = words.find((word) => SCRIPT.test(word) && !word.startsWith('-'));
  if (script !== undefined) return toBase(script);
  return words[words.indexOf('-m') + 1 || words.length];
}

function toBase(file: string): string {
  return file.slice(file.lastIndexOf('/') + 1);
}
