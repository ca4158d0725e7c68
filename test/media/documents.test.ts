import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { docxOf, officeOf, pdfOf } from "../harness/documents.ts";
import { zipOf } from "../harness/archives.ts";
import { createIds } from "../../src/base/ids.ts";
import { loopbackLookup, startLoopbackServer, type LoopbackServer } from "../../src/base/loopback-server.fixture.ts";
import { seededRandom } from "../../src/base/random.ts";
import { webFetchTool } from "../../src/tools/builtin/web/fetch.ts";
import { createMarkUntrusted } from "../../src/tools/index.ts";
import { systemClock } from "../../src/base/clock.ts";
import { mediaTypeOf } from "../../src/media/mime.ts";
import { createDocuments } from "../../src/media/documents/create-documents.ts";
import { documentKind } from "../../src/media/documents/kinds.ts";
import type { DocumentLimits } from "../../src/media/documents/types.ts";

const documents = createDocuments({ clock: systemClock });
const LIMITS: DocumentLimits = { maxChars: 10_000, maxPages: 50 };
const PDF = "application/pdf";

const read = (data: Buffer, fileName: string, limits: Partial<DocumentLimits> = {}) =>
  documents.read({ data, mimeType: mediaTypeOf({ data, fileName }), fileName }, { ...LIMITS, ...limits });

test("a PDF gives the text of its pages, its title and how many there are", async () => {
  const data = pdfOf(["Invoice 4711\nTotal: 12 (EUR)", "second page"], { title: "March" });
  expect(await read(data, "invoice.pdf")).toEqual({
    text: "Invoice 4711\nTotal: 12 (EUR)\n\nsecond page",
    truncated: false,
    title: "March",
    pages: 2,
    pagesRead: 2,
  });
});

test("of 1,000 pages as many are read as the limits allow, and the rest is named", async () => {
  const data = pdfOf(Array.from({ length: 1000 }, (_, page) => `page number ${page + 1}`));
  expect(await read(data, "book.pdf", { maxPages: 3 })).toMatchObject({
    text: "page number 1\n\npage number 2\n\npage number 3",
    truncated: true,
    pages: 1000,
    pagesRead: 3,
  });
  const cut = await read(data, "book.pdf", { maxPages: 1000, maxChars: 30 });
  expect(cut).toMatchObject({ text: "page number 1\n\npage number 2\n\n", truncated: true, pages: 1000 });
});

test("pages that hold only a picture are given as pictures", async () => {
  const data = pdfOf(["", ""], { picture: { width: 400, height: 300 } });
  const { text, pictures } = await read(data, "scan.pdf", { minTextChars: 200 });
  expect(text).toBe("");
  expect(pictures).toHaveLength(2);
  expect(mediaTypeOf({ data: pictures![0]! })).toBe("image/jpeg");
  expect(await read(data, "scan.pdf")).not.toHaveProperty("pictures");
});

test.each<[string, Buffer, RegExp]>([
  ["with a password", pdfOf(["secret"], { isEncrypted: true }), /protected with a password/],
  ["of which a part is missing", pdfOf(["x"]).subarray(0, 60), /damaged or is none/],
  ["that is only a beginning", Buffer.from("%PDF-1.7\n\0\0garbage"), /damaged or is none/],
])("a PDF %s is refused with the reason", async (_, data, reason) => {
  await expect(documents.read({ data, mimeType: PDF }, LIMITS)).rejects.toMatchObject({
    code: "INVALID_INPUT",
    message: expect.stringMatching(reason) as string,
  });
});

test("a Word file gives its paragraphs and tables, without what was deleted", async () => {
  const data = officeOf({
    "word/document.xml":
      "<w:document><w:p><w:r><w:t>Fish &amp; chips</w:t><w:tab/><w:t>&#x20AC;9</w:t></w:r><w:del><w:r><w:t>gone</w:t></w:r></w:del></w:p>" +
      "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc></w:tr></w:tbl><w:instrText>HIDDEN</w:instrText></w:document>",
    "word/footnotes.xml": "<w:footnotes><w:p><w:r><w:t>a note</w:t></w:r></w:p></w:footnotes>",
  });
  const { text } = await read(data, "menu.docx");
  expect(text.split(/\s*\n\s*/)).toEqual(["Fish & chips\t€9", "a", "a note"]);
});

test("a table is a line of comma-separated values for each row, in Word, slides and OpenDocument", async () => {
  const paragraph = (text: string): string => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;
  const cell = (...inside: string[]): string => `<w:tc>${inside.join("")}</w:tc>`;
  const inner = `<w:tbl><w:tr>${cell(paragraph("in"))}${cell(paragraph("ner"))}</w:tr></w:tbl>`;
  const table = `<w:tbl><w:tr>${cell(paragraph("Item"))}${cell(paragraph("Price"))}</w:tr><w:tr>${cell(paragraph("Big, red"), paragraph("lamp"))}${cell(paragraph("9"))}</w:tr><w:tr><w:tc/>${cell(inner)}</w:tr></w:tbl>`;
  const docx = officeOf({ "word/document.xml": `<w:document>${paragraph("Before")}${table}${paragraph("After")}</w:document>` });
  expect((await read(docx, "prices.docx")).text).toBe('Before\nItem,Price\n"Big, red lamp",9\n,in ner\nAfter');
  const at = (text: string): string => `<a:tc><a:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></a:txBody></a:tc>`;
  const pptx = officeOf({ "ppt/presentation.xml": "<p/>", "ppt/slides/slide1.xml": `<a:tbl><a:tr>${at("a")}${at("b")}</a:tr></a:tbl>` });
  expect((await read(pptx, "t.pptx")).text).toBe("## Slide 1\na,b");
});

test("a cell of nothing but spaces holds up nobody", async () => {
  const cell = `<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a${" ".repeat(400_000)}b</w:t></w:r></w:p></w:tc></w:tr></w:tbl>`;
  const { text } = await read(officeOf({ "word/document.xml": `<w:document>${cell}</w:document>` }), "spaces.docx", { maxChars: 500_000 });
  expect(text).toHaveLength(400_002);
});

test("a spreadsheet gives its sheets as comma-separated values", async () => {
  const data = officeOf({
    "xl/workbook.xml": '<workbook><sheets><sheet name="Costs" sheetId="1"/><sheet name="Empty" sheetId="2"/></sheets></workbook>',
    "xl/sharedStrings.xml": "<sst><si><t>Item</t></si><si><r><t>Big, </t></r><r><t>red</t></r></si></sst>",
    "xl/worksheets/sheet1.xml":
      '<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1"><v>42</v></c></row><row r="2"><c r="A2" t="s"><v>1</v></c><c r="B2" t="inlineStr"><is><t>x</t></is></c></row></sheetData></worksheet>',
    "xl/worksheets/sheet2.xml": "<worksheet><sheetData/></worksheet>",
  });
  expect((await read(data, "costs.xlsx")).text).toBe('## Costs\nItem,,42\n"Big, red",x\n\n## Empty');
});

test("slides come in their order, with their notes", async () => {
  const slide = (text: string): string => `<p:sld><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:sld>`;
  const data = officeOf({
    "ppt/presentation.xml": "<p/>",
    "ppt/slides/slide10.xml": slide("ten"),
    "ppt/slides/slide2.xml": slide("two"),
    "ppt/notesSlides/notesSlide1.xml": slide("say hello"),
  });
  expect((await read(data, "talk.pptx")).text).toBe("## Slide 1\ntwo\n\nNotes:\nsay hello\n\n## Slide 2\nten");
});

test("OpenDocument files are read as well", async () => {
  const odt = officeOf({
    mimetype: "application/vnd.oasis.opendocument.text",
    "content.xml": "<office:text><text:h>Title</text:h><text:p>one<text:s/>two</text:p></office:text>",
  });
  expect((await read(odt, "letter.odt")).text).toBe("Title\none two");
  const ods = officeOf({
    mimetype: "application/vnd.oasis.opendocument.spreadsheet",
    "content.xml":
      "<table:table><table:table-row><table:table-cell><text:p>1</text:p></table:table-cell><table:table-cell><text:p>2</text:p></table:table-cell></table:table-row></table:table>",
  });
  expect((await read(ods, "sums.ods")).text).toBe("1,2");
});

test("an archive that unpacks to more than it should is refused, whatever size it claims", async () => {
  const content = Buffer.alloc(80 * 1024 * 1024, "<w:t>a</w:t>");
  const bomb = zipOf([{ name: "word/document.xml", content }]);
  expect(bomb.length).toBeLessThan(500_000);
  await expect(read(bomb, "bomb.docx")).rejects.toThrow("unpacks to more than 64 MB");
  await expect(read(zipOf([{ name: "word/document.xml", content }], { claimedSize: 10 }), "liar.docx")).rejects.toThrow(/damaged/);
});

test.each<[string, Buffer, string, RegExp]>([
  ["no archive", Buffer.from("PK\x03\x04 nothing"), "a.docx", /damaged or not an office file/],
  ["another archive", zipOf([{ name: "a.txt", content: "x" }]), "b.xlsx", /not an office file/],
  ["an old office file", Buffer.from("\xd0\xcf\x11\xe0old", "latin1"), "c.doc", /save it as docx/],
  ["an empty file", Buffer.alloc(0), "e.txt", /the file is empty/],
  ["a film", Buffer.from("\0\0\0\x18ftypmp42"), "d.mp4", /files of type video\/mp4 are not read/],
])("%s is refused with the reason", async (_, data, name, reason) => {
  await expect(read(data, name)).rejects.toThrow(reason);
});

test("entities that a file declares itself are not followed", async () => {
  const data = zipOf([
    { name: "word/document.xml", content: '<!DOCTYPE x [<!ENTITY a "&b;&b;"><!ENTITY b SYSTEM "file:///etc/passwd">]><w:p><w:t>&a; fine</w:t></w:p>' },
  ]);
  expect((await read(data, "x.docx")).text).toBe("&a; fine");
});

test("texts are decoded by what they are and cut at the limit", async () => {
  expect(await read(Buffer.from("a,b\n1,2"), "t.csv")).toEqual({ text: "a,b\n1,2", truncated: false });
  expect((await read(Buffer.from("caf\xe9 cr\xe8me", "latin1"), "old.txt")).text).toBe("café crème");
  expect(await read(Buffer.from("x".repeat(100)), "long.md", { maxChars: 10 })).toEqual({ text: "x".repeat(10), truncated: true });
});

test("a document that takes too long is given up, and the next ones are read", async () => {
  const data = docxOf("hello");
  await expect(read(data, "slow.docx", { timeoutMs: 1 })).rejects.toMatchObject({ code: "TIMEOUT" });
  expect((await Promise.all([1, 2, 3, 4].map(() => read(data, "a.docx")))).map(({ text }) => text)).toEqual(Array(4).fill("hello"));
  await expect(
    documents.read({ data, mimeType: "application/vnd.openxmlformats-officedocument.wordprocessingml.document" }, LIMITS, AbortSignal.abort()),
  ).rejects.toThrow("aborted");
});

test("what a document is depends on its content", () => {
  expect(documentKind(PDF, Buffer.from("GIF89a"))).toBeUndefined();
  expect(documentKind("application/octet-stream", Buffer.from("%PDF-1.4"))).toBe("pdf");
  expect(documentKind("text/plain", Buffer.from("PK\x03\x04"))).toBeUndefined();
  expect(documentKind("application/json")).toBe("text");
  expect(documentKind("application/zip")).toBeUndefined();
});

describe("web_fetch", () => {
  let server: LoopbackServer;
  let served: { readonly data: Buffer; readonly contentType: string };
  beforeAll(async () => {
    server = await startLoopbackServer((_request, response) => response.setHeader("content-type", served.contentType).end(served.data));
  });
  afterAll(() => server[Symbol.asyncDispose]());

  async function fetched(data: Buffer, contentType = "application/pdf", fetch: object = {}): Promise<Readonly<Record<string, unknown>>> {
    served = { data, contentType };
    const tool = webFetchTool.create({
      clock: systemClock,
      config: () => ({ tools: { web: { fetch } } }),
      mark: createMarkUntrusted(createIds(seededRandom(1))),
      secret: () => undefined,
      network: { policy: { allowedHostnames: ["site.test"] }, lookup: loopbackLookup },
      documents,
    });
    const context = { agentId: "main", sessionKey: "agent:main:main", sessionId: "s", runId: "r", workspaceDir: "/nowhere", owner: true };
    const params = { url: `http://site.test:${server.port}/` };
    const { details } = await tool.run({ id: "c", params, signal: new AbortController().signal, update: () => undefined, context });
    return details as Readonly<Record<string, unknown>>;
  }

  test("gives a document as its text, marked as text of others", async () => {
    const pdf = await fetched(pdfOf(["Annual report"], { title: "2026" }));
    expect(pdf).toMatchObject({ extractor: "document", title: expect.stringContaining("2026") as string });
    expect(pdf["text"]).toMatch(/---\nAnnual report\n<<<END_EXTERNAL/);
    const word = await fetched(docxOf("Dear reader"), "application/vnd.openxmlformats-officedocument.wordprocessingml.document");
    expect(word["text"]).toMatch(/---\nDear reader\n<<<END_EXTERNAL/);
  });

  test("says why a document cannot be read", async () => {
    expect(await fetched(pdfOf(["x"], { isEncrypted: true }))).toMatchObject({ error: "Web fetch extraction failed: the PDF is protected with a password" });
    const large = Buffer.concat([pdfOf(["x"]), Buffer.alloc(100_000)]);
    expect(await fetched(large, "application/pdf", { maxResponseBytes: 32_000 })).toMatchObject({
      error: "Web fetch extraction failed: the document has more than 31.3 KB",
    });
  });
});
