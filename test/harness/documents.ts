import { deflateSync } from "node:zlib";
import { zipOf } from "./archives.ts";

interface PdfOptions {
  readonly title?: string;
  /** With a password that nobody knows. */
  readonly isEncrypted?: boolean;
  /** Each page shows a picture of this size as well. */
  readonly picture?: { readonly width: number; readonly height: number };
}

const escaped = (text: string): string => text.replaceAll(/[\\()]/g, (char) => `\\${char}`);

/** A PDF with a text on each page. */
export function pdfOf(pages: readonly string[], { title, isEncrypted = false, picture }: PdfOptions = {}): Buffer {
  const objects: Buffer[] = [];
  const add = (text: string | Buffer): number => objects.push(Buffer.from(text));
  const stream = (dictionary: string, data: Buffer): Buffer =>
    Buffer.concat([Buffer.from(`<< ${dictionary} /Length ${data.length} >>\nstream\n`), data, Buffer.from("\nendstream")]);
  const pagesAt = pages.length * 2 + 3 + (picture ? 1 : 0);
  const font = add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>");
  const image =
    picture &&
    add(
      stream(
        `/Type /XObject /Subtype /Image /Width ${picture.width} /Height ${picture.height} /ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /FlateDecode`,
        deflateSync(Buffer.alloc(picture.width * picture.height * 3, 0xcc)),
      ),
    );
  const kids = pages.map((text) => {
    const lines = text.split("\n").map((line) => `(${escaped(line)}) Tj T*`);
    const drawn = `${image === undefined ? "" : "q 300 0 0 300 50 50 cm /Im1 Do Q "}BT /F1 12 Tf 14 TL 72 700 Td ${lines.join(" ")} ET`;
    const content = add(stream("", Buffer.from(drawn)));
    const resources = `/Font << /F1 ${font} 0 R >>${image === undefined ? "" : ` /XObject << /Im1 ${image} 0 R >>`}`;
    return add(`<< /Type /Page /Parent ${pagesAt} 0 R /MediaBox [0 0 612 792] /Resources << ${resources} >> /Contents ${content} 0 R >>`);
  });
  const info = add(`<< /Title (${escaped(title ?? "")}) >>`);
  const tree = add(`<< /Type /Pages /Kids [${kids.map((kid) => `${kid} 0 R`).join(" ")}] /Count ${kids.length} >>`);
  const catalog = add(`<< /Type /Catalog /Pages ${tree} 0 R >>`);
  const key = `<${"5a".repeat(32)}>`;
  const lock = isEncrypted ? add(`<< /Filter /Standard /V 1 /R 2 /O ${key} /U ${key} /P -44 >>`) : undefined;
  const parts: Buffer[] = [Buffer.from("%PDF-1.4\n")];
  const offsets: number[] = [];
  let size = parts[0]!.length;
  for (const [index, object] of objects.entries()) {
    offsets.push(size);
    const whole = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), object, Buffer.from("\nendobj\n")]);
    parts.push(whole);
    size += whole.length;
  }
  const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const locked = lock === undefined ? "" : ` /Encrypt ${lock} 0 R /ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>]`;
  const trailer = `<< /Size ${objects.length + 1} /Root ${catalog} 0 R /Info ${info} 0 R${locked} >>`;
  parts.push(Buffer.from(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n${trailer}\nstartxref\n${size}\n%%EOF\n`));
  return Buffer.concat(parts);
}

const xml = (body: string): string => `<?xml version="1.0" encoding="UTF-8"?>\n${body}`;

/** A Word file with paragraphs. */
export const docxOf = (...paragraphs: readonly string[]): Buffer =>
  zipOf([
    { name: "[Content_Types].xml", content: xml("<Types/>") },
    {
      name: "word/document.xml",
      content: xml(
        `<w:document><w:body>${paragraphs.map((text) => `<w:p><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`).join("")}</w:body></w:document>`,
      ),
    },
  ]);

/** Any office file from its parts. */
export const officeOf = (parts: Readonly<Record<string, string>>): Buffer =>
  zipOf(Object.entries(parts).map(([name, content]) => ({ name, content: xml(content) })));
