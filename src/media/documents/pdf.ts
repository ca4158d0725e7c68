/** Text of a PDF, page by page. Runs in the thread for documents. */
import type * as library from "unpdf";
import { DocumentProblem } from "./problem.ts";
import type { DocumentLimits, DocumentText, RawPicture } from "./types.ts";

type Library = typeof library;
type Pdf = Awaited<ReturnType<Library["getDocumentProxy"]>>;

export interface PdfContent {
  readonly text: Omit<DocumentText, "pictures">;
  readonly pictures: readonly RawPicture[];
}

const MAX_TITLE = 300;
const MAX_PICTURES = 8;
const MAX_PICTURE_PIXELS = 40_000_000;
/** Smaller ones are logos and lines, not scanned pages. */
const LEAST_SIDE = 200;

async function openPdf({ getDocumentProxy }: Library, data: Uint8Array): Promise<Pdf> {
  try {
    return await getDocumentProxy(data, { verbosity: 0, disableFontFace: true, useSystemFonts: false });
  } catch (error) {
    const { name } = error instanceof Error ? error : { name: "" };
    if (name === "PasswordException") throw new DocumentProblem("the PDF is protected with a password");
    throw new DocumentProblem("the PDF is damaged or is none");
  }
}

/** In the order in which the file has them; a page that cannot be read is a note. */
async function pageText(pdf: Pdf, number: number): Promise<string> {
  try {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    page.cleanup();
    return items.map((item) => ("str" in item ? `${item.str}${item.hasEOL ? "\n" : ""}` : "")).join("");
  } catch {
    return `[page ${number} cannot be read]`;
  }
}

async function titleOf(pdf: Pdf): Promise<string | undefined> {
  try {
    const { info } = await pdf.getMetadata();
    const title: unknown = (info as Readonly<Record<string, unknown>>)["Title"];
    return typeof title === "string" ? title.trim().slice(0, MAX_TITLE) || undefined : undefined;
  } catch {
    return undefined;
  }
}

/** The largest picture of each page: a scan has one. */
async function scannedPages({ extractImages }: Library, pdf: Pdf, pages: number): Promise<readonly RawPicture[]> {
  const found: RawPicture[] = [];
  for (let number = 1; number <= Math.min(pages, MAX_PICTURES); number += 1) {
    try {
      const fitting = (await extractImages(pdf, number)).filter(
        ({ width, height }) => Math.min(width, height) >= LEAST_SIDE && width * height <= MAX_PICTURE_PIXELS,
      );
      const [largest] = fitting.toSorted((a, b) => b.width * b.height - a.width * a.height);
      if (!largest) continue;
      const { data, width, height, channels } = largest;
      found.push({ data: new Uint8Array(data), width, height, channels });
    } catch {
      // Pictures of an unknown kind stay out; the others are shown.
    }
  }
  return found;
}

export async function readPdf(data: Uint8Array, { maxChars, maxPages, minTextChars = 0 }: DocumentLimits): Promise<PdfContent> {
  const unpdf = await import("unpdf");
  const pdf = await openPdf(unpdf, data);
  const pages = pdf.numPages;
  const title = await titleOf(pdf);
  const texts: string[] = [];
  let chars = 0;
  let pagesRead = 0;
  while (pagesRead < Math.min(pages, maxPages) && chars <= maxChars) {
    pagesRead += 1;
    const text = (await pageText(pdf, pagesRead)).trim();
    if (text === "") continue;
    texts.push(text);
    chars += text.length + 2;
  }
  const whole = texts.join("\n\n");
  const pictures = whole.length < minTextChars ? await scannedPages(unpdf, pdf, Math.min(pages, maxPages)) : [];
  const text = whole.slice(0, maxChars);
  return {
    text: { text, truncated: pagesRead < pages || text.length < whole.length, pages, pagesRead, ...(title === undefined ? {} : { title }) },
    pictures,
  };
}
