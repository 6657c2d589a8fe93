/** What the engines of Docker and Podman say, and what to do about it. */
const FIXES: readonly (readonly [RegExp, string])[] = [
  [
    /network \S+ not found|unable to find network/i,
    'name one that the host has (docker network ls): --runner-option network=host, or none, which has no network',
  ],
  [/range of CPUs is from/i, 'ask for no more than the host has: --runner-option cpus=N'],
  [
    /unable to find (user|group)|no matching entries in (passwd|group) file/i,
    'the image does not know that name: give numbers, as in --runner-option user=1000:1000',
  ],
  [
    /could not select device driver|unknown or invalid runtime name: nvidia|nvidia-container-(cli|runtime)|unresolvable CDI devices/i,
    'GPUs in containers need the NVIDIA Container Toolkit on the host, and the engine to be restarted after its installation',
  ],
  [
    /error setting rlimit/i,
    'the engine may not raise the limits that a container with GPUs needs, as in some sandboxes: use the runner process',
  ],
  [/no space left on device/i, 'the disk of the engine is full: docker system df shows by what'],
];

/** The engine's words, with a fix where one is known. */
export function withFix(reason: string): string {
  const fix = FIXES.find(([pattern]) => pattern.test(reason))?.[1];
  return fix === undefined ? reason : `${reason.replace(/\.$/, '')}: ${fix}`;
}
