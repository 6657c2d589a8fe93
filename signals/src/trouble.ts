/**
 * Words that a line which tells of trouble has. What is kept too much costs room alone. Must hold: the time is linear in the length of the line, and short, as
 * every line of every log is tested.
 */
const WORDS = [
  String.raw`(?:[Ee]rror|ERROR|[Ff]atal|FATAL|CRITICAL|[Pp]anic|[Aa]bort(?:ed)?|[Kk]illed|Killing|[Ff]ailed|FAILED|[Uu]sage):?(?:\s|$|[,.\]])`,
  String.raw`Traceback \(most recent call last\)|the above exception|Segmentation fault|core dumped|Bus error|Illegal instruction|terminate called`,
  String.raw`[Oo]ut of memory\b|OOM\b|oom-kill|Xid\b|nccl[A-Z]\w+|NCCL (?:communicator|error|WARN)|(?:cuda|hip)Error|(?:CUDA|CUDNN|CUBLAS)_`,
  String.raw`No (?:such file|module named|space left|route)|[Pp]ermission denied|[Qq]uota exceeded|Too many open|[Rr]ead-only file|already in use|not found\b`,
  String.raw`[Tt]imed? ?out\b|TIME LIMIT|[Cc]an(?:not|'t| not)\b|[Aa]ssert|shared object|E(?:RR|RRNO|ACCES|ADDRINUSE|AGAIN|CONNREFUSED|DQUOT|MFILE|NOENT|NOMEM|NOSPC|PERM|ROFS)\b`,
  String.raw`(?:nan|NaN|NAN)\b|[Mm]ismatch|[Mm]issing|[Uu]nexpected|unrecognized|unreachable|not permitted|[Tt]emporary failure|problem\b|[Ii]nvalid|non-finite|SIG[A-Z]{3,4}\b`,
];
const TROUBLE = new RegExp(
  String.raw`\b(?:${WORDS.join('|')})|[A-Za-z](?:Error|Exception|Interrupt|Exit|Timeout)\b`,
);
export function isTrouble(text: string): boolean {
  return TROUBLE.test(text);
}
