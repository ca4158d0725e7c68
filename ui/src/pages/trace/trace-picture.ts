import { t } from "../../words/words.ts";

/** What is copied from the look of the page: the picture stands without it. */
const LOOK = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-linejoin",
  "paint-order",
  "font-size",
  "font-family",
  "font-weight",
] as const;
const NS = "http://www.w3.org/2000/svg";
const HEAD = 64;
const SHARP = 2;

export interface PictureWords {
  readonly title: string;
  readonly subtitle: string;
}

function withLook(from: Element, to: Element): void {
  const look = getComputedStyle(from);
  for (const name of LOOK) {
    const value = look.getPropertyValue(name);
    if (value !== "") to.setAttribute(name, value);
  }
  for (const name of ["class", "tabindex", "role"]) to.removeAttribute(name);
  for (const [index, child] of [...from.children].entries()) {
    const copy = to.children[index];
    if (copy) withLook(child, copy);
  }
}

function words(text: string, y: number, size: number, colour: string, font: string): SVGTextElement {
  const line = document.createElementNS(NS, "text");
  const facts = { x: "14", y: String(y), fill: colour, "font-size": `${size}px`, "font-family": font, ...(size > 14 ? { "font-weight": "600" } : {}) };
  for (const [name, value] of Object.entries(facts)) line.setAttribute(name, value);
  line.textContent = text;
  return line;
}

/** The chart as a file of its own, with the verdict above it. */
function standalone(chart: SVGSVGElement, { title, subtitle }: PictureWords): { readonly source: string; readonly width: number; readonly height: number } {
  const { width, height: own } = chart.getBoundingClientRect();
  const height = own + HEAD;
  const look = getComputedStyle(document.documentElement);
  const colour = (name: string): string => look.getPropertyValue(name).trim();
  const font = getComputedStyle(document.body).fontFamily;
  const copy = chart.cloneNode(true) as SVGSVGElement;
  withLook(chart, copy);
  const page = document.createElementNS(NS, "svg");
  for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` })) page.setAttribute(name, String(value));
  const ground = document.createElementNS(NS, "rect");
  for (const [name, value] of Object.entries({ width, height, fill: colour("--raised") })) ground.setAttribute(name, String(value));
  copy.setAttribute("y", String(HEAD));
  const short = (text: string, letter: number): string => {
    const most = Math.floor((width - 28) / letter);
    return text.length > most ? `${text.slice(0, most - 1).toWellFormed()}…` : text;
  };
  page.append(ground, words(short(title, 9), 28, 16, colour("--ink"), font), words(short(subtitle, 6.6), 48, 12, colour("--ink-soft"), font), copy);
  return { source: new XMLSerializer().serializeToString(page), width, height };
}

async function drawn(source: string): Promise<HTMLImageElement> {
  const url = URL.createObjectURL(new Blob([source], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    return image;
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** The chart as a PNG. Nothing leaves the browser. */
export async function pictureOf(chart: SVGSVGElement, about: PictureWords): Promise<Blob> {
  const { source, width, height } = standalone(chart, about);
  const image = await drawn(source);
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(width * SHARP);
  canvas.height = Math.round(height * SHARP);
  const context = canvas.getContext("2d");
  if (!context) throw new Error(t("This browser cannot draw pictures."));
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error(t("The picture could not be created.")))), "image/png");
  });
}
