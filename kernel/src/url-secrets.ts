const ADDRESS = /\b[a-z][a-z\d+.-]*:\/\/\S+/gi;
const WHOLE_ADDRESS = /^[a-z][a-z\d+.-]*:\/\//i;
const SECRET_PARAMETER = /pass|token|secret|key/i;

/** A text that is an address, or that has addresses in it, without the secrets of each. An address that cannot be parsed is hidden completely. */
export function withoutSecrets(text: string): string {
  // A password may have white space.
  return WHOLE_ADDRESS.test(text) ? hide(text) : text.replaceAll(ADDRESS, hide);
}

function hide(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : null;
  // An @ after the host belongs to a password with an unencoded "/", which was parsed as the end of the host.
  if (url === null || (url.pathname + url.search + url.hash).includes('@'))
    return `${WHOLE_ADDRESS.exec(address)?.[0] ?? ''}***`;
  return /^https?:$/.test(url.protocol) ? hideOfHttp(url, address) : hideOfDatabase(url, address);
}

/** Services take tokens as the user, and in the query and the fragment under any name. */
function hideOfHttp(url: URL, address: string): string {
  if (`${url.username}${url.password}${url.search}${url.hash}` === '') return address;
  const user = url.username || url.password ? '***@' : '';
  return `${url.protocol}//${user}${url.host}${url.pathname}${url.search && '?***'}${url.hash && '#***'}`;
}

function hideOfDatabase(url: URL, address: string): string {
  const secrets = [...url.searchParams.keys()].filter((name) => SECRET_PARAMETER.test(name));
  if (url.password === '' && secrets.length === 0) return address;
  if (url.password !== '') url.password = '***';
  for (const name of secrets) url.searchParams.set(name, '***');
  return url.href;
}
