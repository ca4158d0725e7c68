import type { ToFrame } from "./frame-messages.ts";

const MOST_SIDE = 4096;

async function dataUrl(address: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const reader = new FileReader();
  reader.addEventListener("load", () => resolve(typeof reader.result === "string" ? reader.result : ""));
  reader.addEventListener("error", () => reject(new Error("unreadable")));
  reader.readAsDataURL(await (await fetch(address)).blob());
  return promise;
}

/** What the user typed and what was drawn is no part of a copy: it is put in. */
async function complete(live: Element, copy: Element): Promise<void> {
  if (live instanceof HTMLTextAreaElement) copy.textContent = live.value;
  else if (live instanceof HTMLInputElement) {
    copy.setAttribute("value", live.value);
    copy.toggleAttribute("checked", live.checked);
  } else if (live instanceof HTMLCanvasElement) {
    const drawn = document.createElement("img");
    drawn.src = live.toDataURL();
    copy.replaceWith(drawn);
  } else if (live instanceof HTMLImageElement && live.currentSrc !== "") copy.setAttribute("src", await dataUrl(live.currentSrc));
  else if (live instanceof HTMLLinkElement && live.relList.contains("stylesheet")) {
    const style = document.createElement("style");
    style.textContent = await (await fetch(live.href)).text();
    copy.replaceWith(style);
  }
}

async function copyOf(root: HTMLElement): Promise<HTMLElement> {
  const copy = root.cloneNode(true) as HTMLElement;
  const [lives, copies] = [[...root.querySelectorAll("*")], [...copy.querySelectorAll("*")]];
  // What cannot be read, such as a picture of another host, is left as it is: it stays blank.
  await Promise.all(lives.map((live, at) => complete(live, copies[at]!).catch(() => undefined)));
  for (const script of copy.querySelectorAll("script, noscript")) script.remove();
  return copy;
}

/** A picture of the document: it is copied into an SVG picture, which the browser draws without running or loading anything. */
export async function snapshot({ format, maxWidth, quality, delayMs }: Extract<ToFrame, { openclaw: "snapshot" }>) {
  if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
  const width = Math.min(Math.max(innerWidth, 1), MOST_SIDE);
  const height = Math.min(Math.max(document.documentElement.scrollHeight, innerHeight, 1), MOST_SIDE);
  const copy = await copyOf(document.documentElement);
  copy.setAttribute("xmlns", "http://www.w3.org/1999/xhtml");
  const html = new XMLSerializer().serializeToString(copy);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><foreignObject width="100%" height="100%">${html}</foreignObject></svg>`;
  const picture = new Image();
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await picture.decode();
  const scale = Math.min(1, maxWidth > 0 ? maxWidth / width : 1);
  const board = document.createElement("canvas");
  board.width = Math.max(1, Math.round(width * scale));
  board.height = Math.max(1, Math.round(height * scale));
  const pen = board.getContext("2d");
  if (!pen) throw new Error("this browser does not draw");
  pen.fillStyle = "#fff";
  pen.fillRect(0, 0, board.width, board.height);
  pen.drawImage(picture, 0, 0, board.width, board.height);
  const made = board.toDataURL(`image/${format}`, quality);
  return { format, base64: made.slice(made.indexOf(",") + 1), width: board.width, height: board.height };
}
