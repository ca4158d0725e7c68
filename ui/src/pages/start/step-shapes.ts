/** One thing in the window, as `setup.status` gives it; written here so that scripts can draw without the page. */
type Drawn = Partial<Readonly<Record<"text" | "field" | "value" | "button" | "switch" | "command" | "mine" | "theirs" | "code", string>>>;

export interface StepPicture {
  readonly window: string;
  readonly menu?: readonly string[];
  readonly shows?: readonly Drawn[];
  readonly click?: readonly string[];
}

/** Only where this field has this value. */
export interface When {
  readonly path: string;
  readonly is: string;
}

export interface Step {
  readonly text: string;
  readonly when?: When;
  /** Texts to paste there. */
  readonly copy?: readonly { readonly text: string; readonly when?: When }[];
  readonly picture?: StepPicture;
}

/** How a shape looks; the colours are its renderer's. */
export type ShapeLook =
  | "frame"
  | "bar"
  | "side"
  | "dot"
  | "text"
  | "strong"
  | "faint"
  | "input"
  | "button"
  | "on-button"
  | "track"
  | "knob"
  | "mine"
  | "theirs"
  | "terminal"
  | "light"
  | "cell"
  | "ring"
  | "badge"
  | "on-badge";

export type Shape =
  | {
      readonly kind: "box";
      readonly look: ShapeLook;
      readonly x: number;
      readonly y: number;
      readonly width: number;
      readonly height: number;
      readonly round: number;
    }
  | { readonly kind: "words"; readonly look: ShapeLook; readonly x: number; readonly y: number; readonly text: string; readonly middle?: boolean };

export interface Drawing {
  readonly width: number;
  readonly height: number;
  readonly shapes: readonly Shape[];
}

const WIDTH = 360;
const BAR = 26;
const PAD = 12;
const SIDE = 132;
const ROW = 24;
const LINE = 14;
/** Widths of a letter of the two typefaces, at their sizes. */
const LETTER = 6.4;
const MONO_LETTER = 6.1;
const CELLS = 9;
const CELL = 7;

const box = (look: ShapeLook, x: number, y: number, width: number, height: number, round = 4): Shape => ({ kind: "box", look, x, y, width, height, round });
const words = (look: ShapeLook, x: number, y: number, text: string): Shape => ({ kind: "words", look, x, y, text });
const centred = (look: ShapeLook, x: number, y: number, text: string): Shape => ({ kind: "words", look, x, y, text, middle: true });

/** Lines of at most `width` units, cut between words where that is possible. */
function wrapped(text: string, width: number, letter = LETTER): string[] {
  const most = Math.max(8, Math.floor(width / letter));
  const pieces = text.split(" ").flatMap((word) => word.match(new RegExp(`.{1,${most}}`, "gsu")) ?? []);
  return pieces.reduce<string[]>((lines, word) => {
    const last = lines.at(-1);
    return last !== undefined && last.length + 1 + word.length <= most ? [...lines.slice(0, -1), `${last} ${word}`] : [...lines, word];
  }, []);
}

/** What was drawn, how high it is, and where something can be clicked. */
interface Block {
  readonly shapes: readonly Shape[];
  readonly height: number;
  readonly target?: { readonly label: string; readonly x: number; readonly y: number; readonly width: number; readonly height: number };
}

function bubble(look: "mine" | "theirs", text: string, x: number, y: number, width: number): Block {
  const lines = wrapped(text, width * 0.7);
  const wide = Math.max(...lines.map(({ length }) => length)) * LETTER + 18;
  const left = look === "mine" ? x + width - wide : x;
  const high = lines.length * LINE + 8;
  return { shapes: [box(look, left, y, wide, high, 8), ...lines.map((line, row) => words("text", left + 9, y + 15 + row * LINE, line))], height: high + 6 };
}

/** A pattern that looks like a QR code and says nothing. */
function code(text: string, x: number, y: number, width: number): Block {
  const side = CELLS * CELL;
  const left = x + (width - side) / 2;
  const isCorner = (column: number, row: number): boolean => (row < 3 || row > 5) && (column < 3 || column > 5) && !(row > 5 && column > 5);
  const isDark = (column: number, row: number): boolean =>
    isCorner(column, row) ? (column % 6) % 2 === 0 || (row % 6) % 2 === 0 : (column * 5 + row * 3 + column * row) % 2 === 0;
  const cells = Array.from({ length: CELLS * CELLS }, (_, at) => ({ column: at % CELLS, row: Math.floor(at / CELLS) }))
    .filter(({ column, row }) => isDark(column, row))
    .map(({ column, row }) => box("cell", left + column * CELL, y + row * CELL, CELL, CELL, 0));
  return { shapes: [...cells, centred("faint", x + width / 2, y + side + 14, text)], height: side + 24 };
}

function field(label: string, value: string, x: number, y: number, width: number): Block {
  return { shapes: [words("faint", x, y + 9, label), box("input", x, y + 14, width, 20), words("text", x + 7, y + 28, value)], height: 42 };
}

function button(label: string, x: number, y: number): Block {
  const width = label.length * LETTER + 22;
  return {
    shapes: [box("button", x, y, width, 20, 5), centred("on-button", x + width / 2, y + 14, label)],
    height: 30,
    target: { label, x, y, width, height: 20 },
  };
}

function toggle(label: string, x: number, y: number): Block {
  return {
    shapes: [box("track", x, y + 2, 26, 14, 7), box("knob", x + 13, y + 3, 12, 12, 6), words("text", x + 34, y + 13, label)],
    height: ROW,
    target: { label, x, y, width: label.length * LETTER + 36, height: 18 },
  };
}

function drawn(shown: Drawn, x: number, y: number, width: number): Block {
  if (shown.button !== undefined) return button(shown.button, x, y);
  if (shown.switch !== undefined) return toggle(shown.switch, x, y);
  if (shown.field !== undefined) return field(shown.field, shown.value ?? "", x, y, width);
  if (shown.code !== undefined) return code(shown.code, x, y, width);
  if (shown.mine !== undefined) return bubble("mine", shown.mine, x, y, width);
  if (shown.theirs !== undefined) return bubble("theirs", shown.theirs, x, y, width);
  if (shown.command !== undefined) {
    const lines = wrapped(`$ ${shown.command}`, width - 16, MONO_LETTER);
    const high = lines.length * LINE + 10;
    return { shapes: [box("terminal", x, y, width, high), ...lines.map((line, row) => words("light", x + 8, y + 16 + row * LINE, line))], height: high + 8 };
  }
  const lines = wrapped(shown.text ?? "", width);
  return { shapes: lines.map((line, row) => words("text", x, y + 11 + row * LINE, line)), height: lines.length * LINE + 8 };
}

/** Blocks below each other. */
function stacked(shows: readonly Drawn[], x: number, top: number, width: number): readonly (Block & { readonly end: number })[] {
  let y = top;
  return shows.map((shown) => {
    const block = drawn(shown, x, y, width);
    y += block.height;
    return { ...block, end: y };
  });
}

function menuOf(menu: readonly string[], top: number): readonly Block[] {
  return menu.map((label, row) => {
    const y = top + row * ROW;
    return { shapes: [words("text", PAD, y + 13, label)], height: ROW, target: { label, x: PAD - 4, y: y - 1, width: SIDE - PAD, height: 20 } };
  });
}

/** A window of the platform with what is to be clicked marked: a drawing, so that it holds for every theme and language of the platform's own page. */
export function drawStep({ window, menu = [], shows = [], click = [] }: StepPicture): Drawing {
  const left = menu.length > 0 ? SIDE + PAD : PAD;
  const top = BAR + PAD;
  const content = stacked(shows, left, top, WIDTH - left - PAD);
  const side = menuOf(menu, top);
  const height = Math.max(content.at(-1)?.end ?? top, top + side.length * ROW, top + ROW) + PAD - 4;
  const targets = [...side, ...content].flatMap(({ target }) => (target ? [target] : []));
  const marks = click.flatMap((label, at): Shape[] => {
    const target = targets.find((one) => one.label === label);
    if (!target) return [];
    const { x, y, width, height: high } = target;
    const badge = { x: x + width + 1, y: y - 5 };
    const number = click.length > 1 ? [box("badge", badge.x - 8, badge.y - 1, 14, 14, 7), centred("on-badge", badge.x - 1, badge.y + 9, String(at + 1))] : [];
    return [box("ring", x - 3, y - 3, width + 6, high + 6, 8), ...number];
  });
  return {
    width: WIDTH,
    height,
    shapes: [
      box("frame", 0.5, 0.5, WIDTH - 1, height - 1, 8),
      box("bar", 1, 1, WIDTH - 2, BAR - 1, 7),
      ...[0, 1, 2].map((dot) => box("dot", 10 + dot * 12, 9, 8, 8, 4)),
      words("strong", 52, 17, window),
      ...(menu.length > 0 ? [box("side", 1, BAR, SIDE - 1, height - BAR - 1, 0)] : []),
      ...[...side, ...content].flatMap(({ shapes }) => shapes),
      ...marks,
    ],
  };
}
