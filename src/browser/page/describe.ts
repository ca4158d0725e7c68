import type { PageElement, PageGlobals } from "./dom.ts";

/** What an element is to a reader. Made inside of the page. */
export interface Describe {
  /** `""` for an element that is nothing by itself. */
  roleOf(element: PageElement): string;
  isInteractive(element: PageElement, role: string): boolean;
  nameOf(element: PageElement, role: string): string;
  /** States and the value, ready to be shown. */
  stateOf(element: PageElement, role: string): string;
  /** The name says everything that is inside, unless something inside can be used by itself. */
  isNamedByContent(role: string): boolean;
  isBlock(element: PageElement): boolean;
  clean(text: string, most: number): string;
}

/** Runs inside of the page: it may use nothing from this file. */
export function createDescribe(): Describe {
  const page = globalThis as unknown as PageGlobals;
  const byTag: Record<string, string> = {
    A: "link",
    BUTTON: "button",
    TEXTAREA: "textbox",
    SELECT: "combobox",
    OPTION: "option",
    SUMMARY: "button",
    IMG: "img",
    H1: "heading",
    H2: "heading",
    H3: "heading",
    H4: "heading",
    H5: "heading",
    H6: "heading",
    UL: "list",
    OL: "list",
    LI: "listitem",
    TABLE: "table",
    TR: "row",
    TD: "cell",
    TH: "columnheader",
    NAV: "navigation",
    MAIN: "main",
    HEADER: "banner",
    FOOTER: "contentinfo",
    FORM: "form",
    DIALOG: "dialog",
    IFRAME: "iframe",
    FRAME: "iframe",
    P: "paragraph",
    VIDEO: "video",
    AUDIO: "audio",
    PROGRESS: "progressbar",
    METER: "meter",
    ARTICLE: "article",
    ASIDE: "complementary",
    FIELDSET: "group",
    PRE: "code",
  };
  const byType: Record<string, string> = {
    button: "button",
    submit: "button",
    reset: "button",
    image: "button",
    checkbox: "checkbox",
    radio: "radio",
    range: "slider",
    number: "spinbutton",
    search: "searchbox",
    file: "file",
    color: "color",
  };
  const usable =
    "button link textbox combobox listbox option checkbox radio switch slider spinbutton searchbox file color tab menuitem menuitemcheckbox menuitemradio treeitem video audio iframe";
  const interactive = new Set(usable.split(" "));
  const byContent = new Set("button link option heading tab menuitem menuitemcheckbox menuitemradio treeitem checkbox radio switch".split(" "));
  const blocks = new Set(
    "DIV SECTION P LI UL OL TABLE TR TD TH HEADER FOOTER MAIN NAV ARTICLE ASIDE FORM FIELDSET LEGEND PRE BLOCKQUOTE DL DT DD H1 H2 H3 H4 H5 H6 HR BR BODY DETAILS LABEL".split(
      " ",
    ),
  );
  const clean = (text: string, most: number): string => {
    const line = text
      .slice(0, most * 8)
      .replace(/[\s\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+/g, " ")
      .trim();
    return line.length > most ? `${line.slice(0, most - 1)}…` : line;
  };
  const roleOf = (element: PageElement): string => {
    const written = (element.getAttribute("role") ?? "").trim().split(/\s+/)[0] ?? "";
    if (written !== "") return written === "none" || written === "presentation" || written === "generic" ? "" : clean(written.toLowerCase(), 30);
    const tag = element.tagName.toUpperCase();
    if (tag === "A") return element.hasAttribute("href") ? "link" : "";
    if (tag === "INPUT") return byType[(element.getAttribute("type") ?? "text").toLowerCase()] ?? "textbox";
    if (tag === "SELECT") return element.multiple === true ? "listbox" : "combobox";
    return byTag[tag] ?? (element.isContentEditable === true && element.parentElement?.isContentEditable !== true ? "textbox" : "");
  };
  const textOf = (element: PageElement): string => {
    const alt = element.querySelector("img[alt], svg[aria-label], [aria-label]");
    return (element.textContent ?? "").trim() || (alt?.getAttribute("alt") ?? alt?.getAttribute("aria-label") ?? "");
  };
  const nameOf = (element: PageElement, role: string): string => {
    const ids = element.getAttribute("aria-labelledby");
    const labelled = ids
      ? ids
          .split(/\s+/)
          .map((id) => page.document.getElementById(id)?.textContent ?? "")
          .join(" ")
      : "";
    const own = labelled || element.getAttribute("aria-label") || "";
    if (own.trim() !== "") return clean(own, 150);
    const labels = element.labels ? Array.from(element.labels, (label) => label.textContent ?? "").join(" ") : "";
    if (labels.trim() !== "") return clean(labels, 150);
    if (byContent.has(role)) {
      const isInput = element.tagName.toUpperCase() === "INPUT";
      const text = isInput ? String(element.value ?? "") || element.getAttribute("alt") || "" : textOf(element);
      if (text.trim() !== "") return clean(text, 150);
    }
    return clean(
      element.getAttribute("alt") || element.getAttribute("placeholder") || element.getAttribute("title") || element.getAttribute("name") || "",
      150,
    );
  };
  const stateOf = (element: PageElement, role: string): string => {
    const marks: string[] = [];
    const aria = (name: string): string | null => element.getAttribute(`aria-${name}`);
    const tag = element.tagName.toUpperCase();
    if (role === "heading") marks.push(`level=${aria("level") ?? tag.slice(1)}`);
    if (element.checked === true || aria("checked") === "true") marks.push("checked");
    if (element.disabled === true || aria("disabled") === "true") marks.push("disabled");
    if (element.required === true || aria("required") === "true") marks.push("required");
    if (aria("invalid") === "true") marks.push("invalid");
    if (aria("expanded") !== null) marks.push(aria("expanded") === "true" ? "expanded" : "collapsed");
    if (aria("selected") === "true" || (role === "option" && element.selected === true)) marks.push("selected");
    if (aria("pressed") === "true") marks.push("pressed");
    if (element === page.document.activeElement && tag !== "BODY") marks.push("focused");
    const shown = marks.map((mark) => ` [${mark}]`).join("");
    const isField = tag === "INPUT" || tag === "TEXTAREA" || tag === "SELECT";
    if (!isField || role === "button" || role === "checkbox" || role === "radio") return shown;
    if ((element.getAttribute("type") ?? "").toLowerCase() === "password") return `${shown}${String(element.value ?? "") === "" ? "" : ": ••••"}`;
    const chosen = tag === "SELECT" ? Array.from(element.selectedOptions ?? [], (option) => option.textContent ?? "").join(", ") : String(element.value ?? "");
    return `${shown}${chosen === "" ? "" : `: ${clean(chosen, 200)}`}`;
  };
  const isInteractive = (element: PageElement, role: string): boolean => {
    if (interactive.has(role)) return true;
    if (element.hasAttribute("onclick") || (element.getAttribute("tabindex") ?? "-1") !== "-1") return true;
    if (role !== "" && role !== "img" && role !== "listitem" && role !== "cell" && role !== "row") return false;
    return page.getComputedStyle(element).cursor === "pointer" && (!element.parentElement || page.getComputedStyle(element.parentElement).cursor !== "pointer");
  };
  return {
    roleOf,
    nameOf,
    stateOf,
    isInteractive,
    isNamedByContent: (role) => byContent.has(role),
    isBlock: (element) => blocks.has(element.tagName.toUpperCase()),
    clean,
  };
}
