import { describe, expect, it } from "vitest";
import * as fc from "fast-check";
import { renderMermaidSVG } from "beautiful-mermaid";
import { cleanSvg, coloured } from "./clean-svg.ts";
import { prepare } from "./prepare.ts";
import { NotDrawn } from "./statements.ts";

const wordsOf = (source: string): string => cleanSvg(renderMermaidSVG(prepare(source).text)).words;
const leftIn = (source: string): readonly number[] => prepare(source).left.map(({ line }) => line);
function whyNot(source: string): string | undefined {
  try {
    prepare(source);
    return undefined;
  } catch (error) {
    return (error as NotDrawn).why;
  }
}

describe("a flowchart", () => {
  it("keeps labels that look like syntax", () => {
    expect(wordsOf("graph TD\nA[<span style='x'>plain</span><br/><there>]")).toBe("plain <there>");
    expect(wordsOf('graph TD\nA["a [b] (c) {d} | & &quot;e&quot; #35; <f>"] -->|"x [y]"| B')).toBe('x [y], a [b] (c) {d} | & "e" # <f>, B');
  });

  it("is read in every spelling: one line, no direction, long and odd arrows, names with letters of any language", () => {
    expect(leftIn("graph LR; A-->B; B---->C; C-.->D; D==>E & F; E--x G; G--oH; H~~~A")).toEqual([]);
    expect(wordsOf("flowchart\nÄ --> 日本[Tokyo]\nÄ -- says; hello --> B.1")).toContain("Tokyo");
    expect(leftIn('flowchart TD\nA@{ shape: diam, label: "new" }\nB e1@--> A\n%% no\nclick A call x()\nA:::red --> B\nclassDef red fill:#f00')).toEqual([]);
  });

  it("takes a label that comes after the first mention, and puts nodes into the group that names them", () => {
    const { text } = prepare("flowchart TD\nA --> B\nsubgraph g [Group]\nB[Later]\nend\nA --> g");
    expect(text.split("\n")).toEqual(["flowchart TD", "n0[A]", "subgraph g0 [Group]", "n1[Later]", "end", "n0 --> n1", "n0 --> g0"]);
  });

  it("says which lines it leaves out", () => {
    expect(leftIn("flowchart TD\nA --> B\nnot a line ???\nB --> C")).toEqual([3]);
  });

  it("takes colours of its nodes and no other styles, with ink that can be read on them", () => {
    const { text } = prepare("flowchart TD\nA --> B\nstyle A fill:#000,stroke:url(x),color:expression(1)\nstyle B fill:#ffe");
    expect(text).toContain("style n0 fill:#000,color:#ffffff\nstyle n1 fill:#ffe,color:#17171a");
  });
});

describe("other diagrams", () => {
  it("of states have names with any letters, forks and composites", () => {
    expect(wordsOf('stateDiagram-v2\n[*] --> Over.all\nstate "Long one" as L\nOver.all --> L : go\nstate C {\n[*] --> x\n}\nL : now <so>')).toContain(
      "now <so>",
    );
  });

  it("of sequences have names of several words, numbers and frames", () => {
    const words = wordsOf(
      "sequenceDiagram\nautonumber\nparticipant W as Web Server\nClient App->>W: GET /; now\nalt fine\nW-->>Client App: 200\nelse\nW--xClient App: 500\nend",
    );
    expect(words).toContain("1. GET /; now");
    expect(words).toContain("Client App");
  });

  it("of classes, entities and charts are drawn", () => {
    expect(wordsOf("classDiagram\nclass Animal~T~ {\n+eat(List~Food~) bool\n}\nAnimal <|-- Dog\nDog : +bark()")).toContain("Animal<T>");
    expect(wordsOf('erDiagram\nCUSTOMER ||--o{ ORDER : places\nCUSTOMER { string name PK\n}\n"Delivery Address" }|..|| CUSTOMER : ""')).toContain(
      "Delivery_Address",
    );
    expect(wordsOf("xychart-beta\ntitle Sales\nx-axis [jan, feb]\nbar [1, 2]")).toContain("Sales");
  });

  it("that are not drawn are refused by name, and so are empty and very large ones", () => {
    expect(whyNot("pie\n a : 1")).toBe("kind");
    expect(whyNot("  \n")).toBe("empty");
    expect(whyNot("flowchart TD")).toBe("empty");
    expect(whyNot(`flowchart TD\n${"A --> B\n".repeat(10_000)}`)).toBe("large");
    expect(whyNot(`flowchart TD\n${Array.from({ length: 500 }, (_, at) => `n${at}`).join("\n")}`)).toBe("large");
    expect(whyNot("xychart-beta\nbar [1, Infinity]")).toBe("broken");
  });
});

describe("a picture", () => {
  const svg = (inner: string): string => `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" width="9.5" height="9">${inner}</svg>`;

  it("has only elements and attributes that draw", () => {
    const { svg: clean } = cleanSvg(
      svg('<g class="x" data-id="1" onclick="alert(1)" style="fill:red"><rect x="1" fill="var(--_line)" href="https://a.example"/></g>'),
    );
    expect(clean).not.toMatch(/class|data-|onclick|style|href/);
    expect(clean).toContain('<g><rect x="1" fill="{ink-faint}"/></g>');
    expect(coloured(clean, { "ink-faint": "rgb(1, 2, 3)" })).toContain('fill="rgb(1, 2, 3)"');
  });

  it("is refused when anything else is in it", () => {
    for (const inner of [
      "<script>1</script>",
      "<image/>",
      "<foreignObject></foreignObject>",
      "<use/>",
      "<g>",
      "</g></g>",
      "<!-- -->",
      "<g a='1'/>",
      "&x;",
      "<a></a>",
    ]) {
      expect(() => cleanSvg(svg(inner)), inner).toThrow(NotDrawn);
    }
    expect(() => cleanSvg('<svg width="99999" height="1"></svg>')).toThrow(NotDrawn);
  });

  it("of any source has nothing in it that runs or loads", () => {
    const piece = fc.constantFrom(
      "A",
      "B",
      "-->",
      "---",
      "[",
      "]",
      "(",
      ")",
      "{",
      "}",
      '"',
      "'",
      "<script>",
      "onload=",
      "&lt;",
      "&#60;",
      "|",
      ";",
      "\n",
      " ",
      "url(",
      "style A fill:",
      "click A ",
      "subgraph ",
      "end",
      "::",
      "é",
      "\ue03c",
      "#quot;",
      "`",
      "\\",
    );
    const head = fc.constantFrom("flowchart TD\n", "sequenceDiagram\n", "stateDiagram-v2\n", "classDiagram\n", "erDiagram\n", "xychart-beta\n");
    fc.assert(
      fc.property(head, fc.array(piece, { maxLength: 24 }), (kind, parts) => {
        let svg: string;
        try {
          ({ svg } = cleanSvg(renderMermaidSVG(prepare(kind + parts.join("")).text)));
        } catch {
          // It stays code.
          return;
        }
        const outside = svg.replaceAll(/>[^<]*</g, "><");
        expect(outside).not.toMatch(/<(?!\/?(?:svg|g|defs|marker|rect|line|polyline|polygon|path|circle|ellipse|text|tspan)\b)|\son|href|url\((?!#)/);
        expect(svg).not.toMatch(/<script/);
      }),
      { numRuns: 150 },
    );
  });
});
