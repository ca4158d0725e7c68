/** Where a link goes. */
export interface Address {
  readonly href: string;
  /** The real host, when the words of the link name another one or the host is not what it looks like. */
  readonly host?: string;
}

const SCHEMES: ReadonlySet<string> = new Set(["http:", "https:", "mailto:"]);
const PICTURE = /^data:image\/(?:png|jpeg|gif|webp);base64,[a-z0-9+/=\s]*$/i;
const LOOKS_LIKE_HOST = /(?:^|[\s([<])(?:[a-z][a-z0-9+.-]*:\/\/)?(?:[^\s/@]*@)?([\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.\p{L}{2,})/iu;

function parsed(text: string): URL | undefined {
  // Browsers drop control characters from addresses; what has some is not what it looks like.
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f\\]/.test(text)) return undefined;
  return URL.canParse(text) ? new URL(text) : undefined;
}

function hostIn(words: string): string | undefined {
  const host = LOOKS_LIKE_HOST.exec(words)?.[1];
  return host === undefined ? undefined : (parsed(`http://${host}`)?.hostname ?? host);
}

const bare = (host: string): string => host.replace(/^www\./, "");

/** The address of a link with these words; undefined when it may not be one: only the web and mail are left to. */
export function addressOf(href: string, words: string): Address | undefined {
  const url = parsed(href.trim());
  if (!url || !SCHEMES.has(url.protocol)) return undefined;
  if (url.protocol === "mailto:") return { href: url.href };
  const named = hostIn(words);
  const other = named !== undefined && bare(named) !== bare(url.hostname);
  const disguised = url.hostname.includes("xn--") || url.username !== "";
  return { href: url.href, ...(other || disguised ? { host: url.host } : {}) };
}

/** The source of a picture that is shown: one that is in the text itself. Everything else would tell a stranger that it was looked at. */
export function pictureOf(source: string, base: string | undefined = globalThis.document?.baseURI): string | undefined {
  if (PICTURE.test(source)) return source;
  if (base === undefined || !URL.canParse(source, base)) return undefined;
  const url = new URL(source, base);
  return url.origin === new URL(base).origin && SCHEMES.has(url.protocol) ? url.href : undefined;
}
