/** The part of the browser's own interfaces that code inside of pages uses. */

export interface PageNode {
  readonly nodeType: number;
  readonly nodeValue: string | null;
  readonly childNodes: ArrayLike<PageNode>;
  readonly isConnected: boolean;
}

export interface PageRect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface PageElement extends PageNode {
  readonly tagName: string;
  readonly id: string;
  readonly shadowRoot: PageNode | null;
  /** Of a label: the field that it belongs to. */
  readonly control?: PageElement | null;
  readonly labels?: ArrayLike<PageElement> | null;
  readonly value?: unknown;
  readonly checked?: boolean;
  readonly indeterminate?: boolean;
  readonly disabled?: boolean;
  readonly required?: boolean;
  readonly selected?: boolean;
  readonly multiple?: boolean;
  readonly options?: ArrayLike<PageElement>;
  readonly selectedOptions?: ArrayLike<PageElement>;
  readonly label?: string;
  readonly isContentEditable?: boolean;
  readonly textContent: string | null;
  readonly parentElement: PageElement | null;
  readonly children: ArrayLike<PageElement>;
  readonly style: { cssText: string };
  getRootNode(): unknown;
  getAttribute(name: string): string | null;
  hasAttribute(name: string): boolean;
  checkVisibility?(options: { readonly visibilityProperty: boolean; readonly opacityProperty?: boolean }): boolean;
  querySelector(selector: string): PageElement | null;
  getBoundingClientRect(): PageRect;
  assignedNodes?(options: { readonly flatten: boolean }): readonly PageNode[];
  append(...nodes: (PageElement | string)[]): void;
  remove(): void;
}

export interface PageDocument {
  readonly body: PageElement | null;
  readonly documentElement: PageElement;
  readonly activeElement: PageElement | null;
  readonly title: string;
  querySelector(selector: string): PageElement | null;
  querySelectorAll(selector: string): ArrayLike<PageElement>;
  getElementById(id: string): PageElement | null;
  createElement(name: string): PageElement;
}

export interface PageGlobals {
  readonly document: PageDocument;
  getComputedStyle(element: PageElement): { readonly cursor: string };
  requestAnimationFrame(call: () => void): number;
  readonly innerWidth: number;
  readonly innerHeight: number;
}
