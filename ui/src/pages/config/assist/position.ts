import type { ValuePath } from "../model/path.ts";
import type { Quote, TextTree, TreeContainer, TreeMember, TreeNode, TreeScalar } from "./tree.ts";

interface Spot {
  /** What a completion replaces. */
  readonly from: number;
  readonly to: number;
  /** What of it stands before the cursor, without a quote. */
  readonly prefix: string;
  readonly quote: Quote;
  /** Undefined at the top of the text. */
  readonly container: TreeContainer | undefined;
  /** What is edited; undefined for something new. */
  readonly member: TreeMember | undefined;
  /** Where a comma is missing before something new. */
  readonly commaAt: number | undefined;
  /** Something follows in the same object or array, with no comma before it yet. */
  readonly isFollowed: boolean;
}

/** Where a cursor stands: where a key can be, or a value. `path` is that of the object, or of the value. */
export interface CursorPlace extends Spot {
  readonly kind: "key" | "value";
  readonly path: ValuePath;
}

/** A container with the path to it. */
interface Level {
  readonly container: TreeContainer;
  readonly path: ValuePath;
}

const startOf = ({ key, value }: TreeMember): number => key?.start ?? value?.start ?? 0;
const endOf = ({ key, colon, value }: TreeMember): number => value?.end ?? (colon === undefined ? (key?.end ?? 0) : colon + 1);
const touches = (node: TreeScalar, offset: number): boolean => node.start <= offset && offset <= node.end;
const contains = ({ start, end, closed }: TreeContainer, offset: number): boolean => start < offset && (closed ? offset < end : offset <= end);

const below = ({ path, container }: Level, member: TreeMember): ValuePath =>
  container.kind === "array" ? [...path, container.members.indexOf(member)] : [...path, member.key?.text ?? ""];

/** The innermost object or array around an offset. */
function innermost(root: TreeNode | undefined, offset: number): Level | undefined {
  if (root?.kind === "scalar" || !root || !contains(root, offset)) return undefined;
  let level: Level = { container: root, path: [] };
  for (;;) {
    const inside: TreeMember | undefined = level.container.members.find(({ value }) => value && value.kind !== "scalar" && contains(value, offset));
    if (!inside?.value || inside.value.kind === "scalar") return level;
    level = { container: inside.value, path: below(level, inside) };
  }
}

const inComment = ({ comments }: TextTree, offset: number): boolean =>
  comments.some(({ start, end, line }) => start < offset && (line ? offset <= end : offset < end));

/** The part of a scalar that stands before the cursor. */
const prefixOf = (text: string, { start, quote }: TreeScalar, offset: number): string => text.slice(start + (quote === "" ? 0 : 1), offset);

function onScalar(text: string, node: TreeScalar, offset: number): Pick<Spot, "from" | "to" | "prefix" | "quote"> {
  return { from: node.start, to: node.end, prefix: prefixOf(text, node, Math.max(offset, node.start)), quote: node.quote };
}

const onNothing = (offset: number): Pick<Spot, "from" | "to" | "prefix" | "quote"> => ({ from: offset, to: offset, prefix: "", quote: "" });

/** A place for a new member or item. */
function gap({ container, path }: Level, offset: number): CursorPlace {
  const { members } = container;
  const before = members.findLast((member) => startOf(member) < offset);
  const at = before ? members.indexOf(before) + 1 : 0;
  const isOpen = before !== undefined && before.comma === undefined && (before.value !== undefined || before.key === undefined);
  return {
    ...onNothing(offset),
    kind: container.kind === "object" ? "key" : "value",
    path: container.kind === "object" ? path : [...path, at],
    container,
    member: undefined,
    commaAt: isOpen ? endOf(before) : undefined,
    isFollowed: members.length > at,
  };
}

function inMember(text: string, level: Level, member: TreeMember, offset: number): CursorPlace | undefined {
  const { container, path } = level;
  const { key, colon, value, comma } = member;
  const isFollowed = comma === undefined && container.members.at(-1) !== member;
  const shared = { container, member, commaAt: undefined, isFollowed };
  if (key && touches(key, offset)) return { ...shared, ...onScalar(text, key, offset), kind: "key", path };
  if (container.kind === "object" && (colon === undefined || offset <= colon)) return undefined;
  const own = { ...shared, kind: "value", path: below(level, member) } as const;
  if (!value) return { ...own, ...onNothing(offset) };
  if (value.kind !== "scalar" || offset > value.end) return undefined;
  return { ...own, ...onScalar(text, value, offset) };
}

/** Where the cursor stands in a text; undefined in comments and wherever neither key nor value can be. */
export function placeAt(text: string, tree: TextTree, offset: number): CursorPlace | undefined {
  if (inComment(tree, offset)) return undefined;
  const { root } = tree;
  const level = innermost(root, offset);
  if (!level) {
    const top = { kind: "value", path: [], container: undefined, member: undefined, commaAt: undefined, isFollowed: false } as const;
    if (!root) return { ...top, ...onNothing(offset) };
    return root.kind === "scalar" && touches(root, offset) ? { ...top, ...onScalar(text, root, offset) } : undefined;
  }
  const { members } = level.container;
  const before = members.findLast((member) => startOf(member) <= offset);
  if (!before) return gap(level, offset);
  const { key, colon, value, comma } = before;
  const next = members[members.indexOf(before) + 1];
  if (comma !== undefined && offset > comma) return gap(level, offset);
  if (value ? offset <= value.end : colon !== undefined ? !next || offset < startOf(next) : key && offset <= key.end)
    return inMember(text, level, before, offset);
  const isLater = text.slice(endOf(before), offset).includes("\n");
  // Between a value and its comma, or a key and its colon, nothing can stand.
  return comma === undefined && (value !== undefined || isLater) ? gap(level, offset) : undefined;
}

/** The key or value under an offset, for its description. */
export interface Subject {
  readonly path: ValuePath;
  readonly start: number;
  readonly end: number;
}

export function subjectAt(tree: TextTree, offset: number): Subject | undefined {
  if (inComment(tree, offset)) return undefined;
  const level = innermost(tree.root, offset);
  const member = level?.container.members.findLast((one) => startOf(one) <= offset);
  if (!level || !member) return undefined;
  const { key, value } = member;
  const path = below(level, member);
  if (key && touches(key, offset)) return { path, start: key.start, end: key.end };
  if (value?.kind === "scalar" && touches(value, offset)) return { path, start: value.start, end: value.end };
  // With the keyboard: anywhere between a key and its value.
  return key && offset <= (value?.start ?? endOf(member)) ? { path, start: key.start, end: key.end } : undefined;
}
