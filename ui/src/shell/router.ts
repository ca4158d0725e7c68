import { createSignal, type Signal } from "../base/signal.ts";

/** Where the page is: `chat/agent:main:main?entry=12` below the base address. */
export interface Route {
  /** The first part of the path. */
  readonly page: string;
  /** What follows it, decoded. */
  readonly rest: readonly string[];
  readonly query: URLSearchParams;
}

export interface Router {
  readonly route: Signal<Route>;
  /** Goes to a place below the base address. */
  go(place: string, options?: { readonly replace?: boolean }): void;
  /** Asked before another place is gone to; on `false` the page stays where it is. The last one that was given is asked. */
  guard(ask: (to: URL) => boolean | Promise<boolean>): Disposable;
}

/** Characters that servers and proxies read differently in a path, encoded or not. */
const AMBIGUOUS = /[/\\?#%]|^~|^\.{1,2}$/;

/** A part of a path. One that could be misread is written in other letters, behind `~`. */
function encoded(part: string): string {
  if (!AMBIGUOUS.test(part)) return encodeURIComponent(part);
  const letters = String.fromCharCode(...new TextEncoder().encode(part));
  return `~${btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

/** The address of a place: parts are encoded, so that any session key can be one. */
export function place(page: string, rest: readonly string[] = [], query: Readonly<Record<string, string | undefined>> = {}): string {
  const path = [page, ...rest].map(encoded).join("/");
  const words = new URLSearchParams(Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)).toString();
  return words === "" ? path : `${path}?${words}`;
}

/** The other direction of `place`. What it did not write is taken as it is. */
export function decoded(part: string): string {
  try {
    if (!part.startsWith("~")) return decodeURIComponent(part);
    const letters = atob(part.slice(1).replaceAll("-", "+").replaceAll("_", "/"));
    return new TextDecoder().decode(Uint8Array.from(letters, (letter) => letter.charCodeAt(0)));
  } catch {
    return part;
  }
}

function read(): Route {
  const base = new URL(document.baseURI).pathname;
  const path = location.pathname.startsWith(base) ? location.pathname.slice(base.length) : "";
  const [page = "", ...rest] = path.split("/").map(decoded);
  return { page: page === "" ? "chat" : page, rest: rest.filter((part) => part !== ""), query: new URLSearchParams(location.search) };
}

/** Reads the address and changes it. Links inside of elements are followed without loading the page again. */
export function createRouter(): Router {
  const route = createSignal<Route>(read());
  let shown = location.href;
  let asking: ((to: URL) => boolean | Promise<boolean>) | undefined;
  const show = (url: URL, replace: boolean): void => {
    if (replace) history.replaceState(null, "", url);
    else history.pushState(null, "", url);
    shown = location.href;
    route.set(read());
  };
  const go: Router["go"] = (to, { replace = false } = {}) => {
    const url = new URL(to, document.baseURI);
    if (url.href === location.href) return;
    if (!asking) show(url, replace);
    else void Promise.resolve(asking(url)).then((yes) => yes && show(url, replace));
  };
  addEventListener("popstate", () => {
    const to = new URL(location.href);
    if (!asking) {
      shown = location.href;
      return route.set(read());
    }
    // The address has changed already: it goes back until the answer is there.
    history.pushState(null, "", shown);
    void Promise.resolve(asking(to)).then((yes) => yes && show(to, false));
  });
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.composedPath().find((node): node is HTMLAnchorElement => node instanceof HTMLAnchorElement);
    if (!link || link.target !== "" || link.hasAttribute("download") || link.hasAttribute("data-outside")) return;
    const url = new URL(link.href, document.baseURI);
    if (url.origin !== location.origin || !url.pathname.startsWith(new URL(document.baseURI).pathname)) return;
    event.preventDefault();
    go(url.href);
  });
  const guard: Router["guard"] = (ask) => {
    asking = ask;
    return { [Symbol.dispose]: () => void (asking === ask && (asking = undefined)) };
  };
  return { route, go, guard };
}
