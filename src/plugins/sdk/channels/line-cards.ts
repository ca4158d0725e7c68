/** LINE Flex messages: cards and their parts. */

/** An action of LINE's Messaging API. */
export interface LineAction {
  type: string;
  [key: string]: unknown;
}

export interface CardAction {
  label: string;
  action: LineAction;
}

export interface ListItem {
  title: string;
  subtitle?: string | undefined;
  action?: LineAction | undefined;
}

export interface FlexBox {
  type: "box";
  layout: "vertical" | "horizontal" | "baseline";
  contents: FlexComponent[];
  [key: string]: unknown;
}

export type FlexComponent = FlexBox | { type: "text" | "image" | "button" | "separator"; [key: string]: unknown };

export interface FlexBubble {
  type: "bubble";
  size?: string | undefined;
  hero?: FlexComponent | undefined;
  body?: FlexBox | undefined;
  footer?: FlexBox | undefined;
}

type AspectRatio = "1:1" | "1.51:1" | "1.91:1" | "4:3" | "16:9" | "20:13" | "2:1" | "3:1";

const MOST_ITEMS = 8;
const MOST_ROWS = 12;
const MOST_ACTIONS = 4;
const GREY = "#666666";

const label = (text: string, more: Record<string, unknown> = {}): FlexComponent => ({ type: "text", text, wrap: true, ...more });
const heading = (text: string) => label(text, { weight: "bold", size: "xl" });
const box = (contents: FlexComponent[], more: Record<string, unknown> = {}, layout: FlexBox["layout"] = "vertical"): FlexBox => ({
  type: "box",
  layout,
  contents,
  ...more,
});
const footnote = (text: string | undefined) => (text ? { footer: box([label(text, { size: "xs", color: GREY, align: "center" })]) } : {});
const picture = (url: string, aspectRatio: string, more: Record<string, unknown> = {}): FlexComponent => ({
  type: "image",
  url,
  size: "full",
  aspectRatio,
  aspectMode: "cover",
  ...more,
});

/** A title, text, and a line at the bottom. */
export function createInfoCard(title: string, body: string, footer?: string): FlexBubble {
  return { type: "bubble", size: "mega", body: box([heading(title), label(body, { margin: "md" })]), ...footnote(footer) };
}

/** A title and up to eight entries. */
export function createListCard(title: string, items: readonly ListItem[]): FlexBubble {
  const rows = items.slice(0, MOST_ITEMS).map((item) =>
    box([label(item.title, { weight: "bold" }), ...(item.subtitle ? [label(item.subtitle, { size: "sm", color: GREY })] : [])], {
      margin: "md",
      ...(item.action ? { action: item.action } : {}),
    }),
  );
  return { type: "bubble", size: "mega", body: box([heading(title), { type: "separator", margin: "md" }, ...rows]) };
}

/** A picture with a title and text below it. */
export function createImageCard(
  imageUrl: string,
  title: string,
  body?: string,
  options: { aspectRatio?: AspectRatio | undefined; aspectMode?: "cover" | "fit" | undefined; action?: LineAction | undefined } = {},
): FlexBubble {
  const more = { ...(options.aspectMode ? { aspectMode: options.aspectMode } : {}), ...(options.action ? { action: options.action } : {}) };
  return {
    type: "bubble",
    hero: picture(imageUrl, options.aspectRatio ?? "20:13", more),
    body: box([heading(title), ...(body ? [label(body, { margin: "md", color: GREY })] : [])]),
  };
}

/** Text with up to four buttons. */
export function createActionCard(
  title: string,
  body: string,
  actions: readonly CardAction[],
  options: { imageUrl?: string | undefined; aspectRatio?: AspectRatio | undefined } = {},
): FlexBubble {
  const buttons = actions.slice(0, MOST_ACTIONS).map((entry, index): FlexComponent => ({
    type: "button",
    action: entry.action,
    style: index === 0 ? "primary" : "secondary",
    margin: index === 0 ? "none" : "sm",
  }));
  return {
    type: "bubble",
    ...(options.imageUrl ? { hero: picture(options.imageUrl, options.aspectRatio ?? "20:13") } : {}),
    body: box([heading(title), label(body, { margin: "md", color: GREY })]),
    footer: box(buttons),
  };
}

/** Rows of a name and a value, and a total. */
export function createReceiptCard(params: {
  title: string;
  subtitle?: string | undefined;
  items: readonly { name: string; value: string; highlight?: boolean | undefined }[];
  total?: { label: string; value: string } | undefined;
  footer?: string | undefined;
}): FlexBubble {
  const row = (name: string, value: string, more: Record<string, unknown>) =>
    box([label(name, { flex: 3, ...more }), label(value, { flex: 2, align: "end", ...more })], { margin: "md" }, "horizontal");
  const rows = params.items.slice(0, MOST_ROWS).map((item) => row(item.name, item.value, { size: "sm", weight: item.highlight ? "bold" : "regular" }));
  const total = params.total ? [{ type: "separator", margin: "lg" } as const, row(params.total.label, params.total.value, { size: "lg", weight: "bold" })] : [];
  const subtitle = params.subtitle ? [label(params.subtitle, { size: "sm", color: GREY })] : [];
  return { type: "bubble", size: "mega", body: box([heading(params.title), ...subtitle, ...rows, ...total]), ...footnote(params.footer) };
}
