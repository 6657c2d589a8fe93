/** Docker Hub, as names of images imply it and as credentials are kept for it. */
const HUB = 'docker.io';
const HUB_KEY = 'https://index.docker.io/v1/';

export interface ImageName {
  /** Without tag and digest. */
  readonly name: string;
  /** A tag, or `sha256:…`. Must hold: it is given with a pull, or the engine pulls every tag there is. */
  readonly tag: string;
  /** The host of the registry, with its port. */
  readonly registry: string;
  /** Under which programs keep the credentials for the registry. */
  readonly credentialsKey: string;
}

export function parseImageName(image: string): ImageName {
  const [tagged = image, digest] = image.split('@');
  const [, name = tagged, tag = 'latest'] = /^(.+?)(?::([\w.-]+))?$/.exec(tagged) ?? [];
  const [first = '', ...rest] = name.split('/');
  const isHost = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost');
  const registry = isHost ? first : HUB;
  return { name, tag: digest ?? tag, registry, credentialsKey: registry === HUB ? HUB_KEY : registry };
}
