import type { PageElement, PageGlobals } from "./dom.ts";

/** What an element is. Made inside of the page. */
export interface Roles {
  /** `""` for an element that is nothing by itself. */
  roleOf(element: PageElement): string;
  isInteractive(element: PageElement, role: string): boolean;
  /** The name says everything that is inside, unless something inside can be used by itself. */
  isNamedByContent(role: string): boolean;
  isBlock(element: PageElement): boolean;
  /** One line of at most `most` characters. */
  clean(text: string, most: number): string;
}

/** What an element is called, and its state. Made inside of the page. */
export interface Names {
  /** Before each walk: the labels of the page are looked up once. */
  begin(): void;
  nameOf(element: PageElement, role: string): string;
  /** States and the value, ready to be shown. */
  stateOf(element: PageElement, role: string): string;
}

/** Runs inside of the page: it may use nothing from this file. */
export function createRoles(): Roles {
  const page = globalThis as unknown as PageGlobals;
  const table = (pairs: string): Map<string, string> => new Map(pairs.split(" ").map((pair) => pair.split("=") as [string, string]));
  const byTag = table(
    "BUTTON=button TEXTAREA=textbox OPTION=option SUMMARY=button IMG=img H1=heading H2=heading H3=heading H4=heading H5=heading H6=heading UL=list OL=list LI=listitem " +
      "TABLE=table TR=row TD=cell TH=columnheader NAV=navigation MAIN=main HEADER=banner FOOTER=contentinfo FORM=form DIALOG=dialog IFRAME=iframe FRAME=iframe P=paragraph " +
      "VIDEO=video AUDIO=audio PROGRESS=progressbar METER=meter ARTICLE=article ASIDE=complementary FIELDSET=group PRE=code",
  );
  const byType = table(
    "button=button submit=button reset=button image=button checkbox=checkbox radio=radio range=slider number=spinbutton search=searchbox file=file color=color",
  );
  const set = (words: string): Set<string> => new Set(words.split(" "));
  const interactive = set(
    "button link textbox combobox listbox option checkbox radio switch slider spinbutton searchbox file color tab menuitem menuitemcheckbox menuitemradio treeitem video audio iframe",
  );
  const byContent = set("button link option heading tab menuitem menuitemcheckbox menuitemradio treeitem checkbox radio switch");
  const blocks = set(
    "DIV SECTION P LI UL OL TABLE TR TD TH HEADER FOOTER MAIN NAV ARTICLE ASIDE FORM FIELDSET LEGEND PRE BLOCKQUOTE DL DT DD H1 H2 H3 H4 H5 H6 HR BR BODY DETAILS LABEL",
  );
  const plain = set(" img listitem cell row");
  const clean = (text: string, most: number): string => {
    const line = text
      .slice(0, most * 8)
      .replace(/[\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ")
      .trim();
    return line.length > most ? `${line.slice(0, most - 1)}…` : line;
  };
  const roleOf = (element: PageElement): string => {
    const written = (element.getAttribute("role") ?? "").trim().split(/\s+/)[0] ?? "";
    if (written !== "") return written === "none" || written === "presentation" || written === "generic" ? "" : clean(written.toLowerCase(), 30);
    const tag = element.tagName.toUpperCase();
    if (tag === "A") return element.hasAttribute("href") ? "link" : "";
    if (tag === "INPUT") return byType.get((element.getAttribute("type") ?? "text").toLowerCase()) ?? "textbox";
    if (tag === "SELECT") return element.multiple === true ? "listbox" : "combobox";
    return byTag.get(tag) ?? (element.isContentEditable === true && element.parentElement?.isContentEditable !== true ? "textbox" : "");
  };
  const hasHand = (element: PageElement | null): boolean => element !== null && page.getComputedStyle(element).cursor === "pointer";
  const isInteractive = (element: PageElement, role: string): boolean => {
    if (interactive.has(role) || element.hasAttribute("onclick") || (element.getAttribute("tabindex") ?? "-1") !== "-1") return true;
    return plain.has(role) && hasHand(element) && !hasHand(element.parentElement);
  };
  return { roleOf, isInteractive, isNamedByContent: (role) => byContent.has(role), isBlock: (element) => blocks.has(element.tagName.toUpperCase()), clean };
}

/** Runs inside of the page: it may use nothing from this file but what it is passed. */
export function createNames({ clean, isNamedByContent }: Roles): Names {
  const page = globalThis as unknown as PageGlobals;
  const valueOf = ({ value }: PageElement): string => (typeof value === "string" ? value : "");
  const joined = (list: ArrayLike<PageElement> | null | undefined): string => Array.from(list ?? [], (one) => one.textContent ?? "").join(" ");
  const textOf = (element: PageElement): string => {
    const text = (element.textContent ?? "").trim();
    const alt = text === "" ? element.querySelector("img[alt], svg[aria-label], [aria-label]") : null;
    return text || (alt?.getAttribute("alt") ?? alt?.getAttribute("aria-label") ?? "");
  };
  // Asking each element for its labels searches the whole page each time.
  let labels = new Map<PageElement, PageElement[]>();
  const begin = (): void => {
    labels = new Map();
    for (const label of Array.from(page.document.querySelectorAll("label"))) {
      const { control } = label;
      if (control) labels.set(control, [...(labels.get(control) ?? []), label]);
    }
  };
  const labelsOf = (element: PageElement): ArrayLike<PageElement> | null | undefined =>
    element.getRootNode() === page.document ? labels.get(element) : element.labels;
  const nameOf = (element: PageElement, role: string): string => {
    const ids = element.getAttribute("aria-labelledby");
    const named = ids ? joined(ids.split(/\s+/).flatMap((id) => page.document.getElementById(id) ?? [])).replace(element.textContent || "\0", " ") : "";
    const isInput = element.tagName.toUpperCase() === "INPUT";
    const candidates = [
      () => named || element.getAttribute("aria-label"),
      // A label may be around its field, whose options or text are no part of the name.
      () => joined(labelsOf(element)).replace(element.textContent ?? "", " "),
      () => (isNamedByContent(role) ? (isInput ? valueOf(element) : textOf(element)) : ""),
      ...["alt", "placeholder", "title", "name"].map((name) => () => element.getAttribute(name)),
    ];
    for (const candidate of candidates) {
      const name = clean(candidate() ?? "", 150);
      if (name !== "") return name;
    }
    return "";
  };
  const stateOf = (element: PageElement, role: string): string => {
    const aria = (name: string): string | null => element.getAttribute(`aria-${name}`);
    const tag = element.tagName.toUpperCase();
    const marks = [
      role === "heading" ? `level=${aria("level") ?? tag.slice(1)}` : "",
      element.checked === true || aria("checked") === "true" ? "checked" : "",
      element.disabled === true || aria("disabled") === "true" ? "disabled" : "",
      element.required === true || aria("required") === "true" ? "required" : "",
      aria("invalid") === "true" ? "invalid" : "",
      aria("expanded") === null ? "" : aria("expanded") === "true" ? "expanded" : "collapsed",
      aria("selected") === "true" || (role === "option" && element.selected === true) ? "selected" : "",
      aria("pressed") === "true" ? "pressed" : "",
      element === page.document.activeElement && tag !== "BODY" ? "focused" : "",
    ];
    const shown = marks.map((mark) => (mark === "" ? "" : ` [${clean(mark, 20)}]`)).join("");
    const isField = tag === "INPUT" || tag === "TEXTAREA" || tag === "SELECT";
    if (!isField || role === "button" || role === "checkbox" || role === "radio") return shown;
    // What is typed into such a field is nobody's business, not even the model's.
    if ((element.getAttribute("type") ?? "").toLowerCase() === "password") return valueOf(element) === "" ? shown : `${shown}: ••••`;
    const value = clean(tag === "SELECT" ? joined(element.selectedOptions) : valueOf(element), 200);
    return value === "" ? shown : `${shown}: ${value}`;
  };
  return { begin, nameOf, stateOf };
}
