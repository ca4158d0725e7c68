/**
 * What scripts that run inside a page use of the browser. The project is not compiled with a browser's names, so that nothing of the gateway can lean on
 * them; such scripts take `globalThis as unknown as PageWindow`.
 */
export interface PageRoot {
  readonly textContent: string | null;
  querySelector(selector: string): PageElement | null;
  querySelectorAll(selector: string): Iterable<PageElement>;
}

export interface PageElement extends PageRoot {
  readonly localName: string;
  readonly outerHTML: string;
  readonly shadowRoot: PageRoot | null;
  readonly attributes: Iterable<{ readonly name: string; readonly value: string }>;
  /** Of fields and buttons. */
  readonly disabled?: boolean;
  closest(selector: string): PageElement | null;
  setAttribute(name: string, value: string): void;
}

export interface PageWindow {
  readonly document: PageRoot & { readonly baseURI: string; readonly cookie: string };
  readonly location: { readonly href: string; readonly origin: string };
  readonly history: { pushState(state: unknown, unused: string, url: URL): void };
  readonly localStorage: object;
  readonly sessionStorage: object;
  readonly PopStateEvent: new (type: string) => object;
  addEventListener(
    type: "securitypolicyviolation",
    listener: (event: { readonly violatedDirective: string; readonly blockedURI: string; readonly sample: string }) => void,
  ): void;
  dispatchEvent(event: object): void;
  requestAnimationFrame(callback: (time: number) => void): number;
}
