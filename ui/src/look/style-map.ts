import { noChange } from "lit";
import { directive, Directive, type ElementPart, type PartInfo, PartType } from "lit/directive.js";

/** Properties by their CSS names, or as scripts write them; undefined takes one away. */
type Styles = Readonly<Record<string, string | undefined>>;

const cssName = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

class StyleMap extends Directive {
  private known: readonly string[] = [];

  constructor(part: PartInfo) {
    super(part);
    if (part.type !== PartType.ATTRIBUTE || part.name !== "style") throw new Error("styleMap belongs into a style attribute alone");
  }

  override render(_styles: Styles): typeof noChange {
    return noChange;
  }

  override update(part: unknown, [styles]: [Styles]): typeof noChange {
    const { style } = (part as ElementPart).element as HTMLElement;
    for (const name of this.known) if (styles[name] === undefined) style.removeProperty(cssName(name));
    for (const [name, value] of Object.entries(styles)) if (value !== undefined) style.setProperty(cssName(name), value);
    this.known = Object.keys(styles);
    return noChange;
  }
}

/** `style=${styleMap({ top: "4px" })}`, through the element's properties from the first time on: lit's own writes an attribute, which the policy refuses. */
export const styleMap = directive(StyleMap);
