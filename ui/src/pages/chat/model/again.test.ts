import { expect, it } from "vitest";
import type { Link } from "../../../link/link.ts";
import { draftOf, firstWords, wholeText } from "./again.ts";
import type { ChatEntry } from "./state.ts";

type Port = Pick<Link, "has" | "request">;

const KEY = "agent:main:main";
const entry = (content: ChatEntry["content"], extra: Partial<ChatEntry> = {}): ChatEntry => ({ seq: 4, ts: 1, kind: "user", content, ...extra });
const said = (text: string) => ({ type: "text", text });

function portOf(whole: string, has = true): Port {
  const request = (method: string, params: { readonly seq: number; readonly from?: number; readonly index?: number }): Promise<unknown> => {
    if (method === "chat.image") return Promise.resolve({ mimeType: "image/png", data: `data-${params.seq}-${params.index}` });
    if (method === "chat.file") return Promise.resolve({ name: "x", mimeType: "application/pdf", bytes: 3, data: `file-${params.seq}-${params.index}` });
    if (method !== "chat.entry") return Promise.reject(new Error(method));
    const from = params.from ?? 0;
    const end = from + 10;
    return Promise.resolve({ text: whole.slice(from, end), ...(end < whole.length ? { next: end } : {}) });
  };
  return { has: () => has, request: request as Port["request"] };
}

it("sends a message again with its pictures", async () => {
  const content = [said("look"), { type: "image", omitted: true }, { type: "image", omitted: true }];
  expect(await draftOf(portOf(""), KEY, entry(content))).toEqual({
    text: "look",
    attachments: [
      { type: "image", mimeType: "image/png", fileName: "picture-1.png", content: "data-4-1" },
      { type: "image", mimeType: "image/png", fileName: "picture-2.png", content: "data-4-2" },
    ],
  });
});

it("sends a message again with its files, and without the lines that name them", async () => {
  const files = [{ name: "report.pdf", mimeType: "application/pdf" }];
  expect(await draftOf(portOf(""), KEY, entry([said("Sum it up\n📎 report.pdf")], { files }))).toEqual({
    text: "Sum it up",
    attachments: [{ type: "file", mimeType: "application/pdf", fileName: "report.pdf", content: "file-4-0" }],
  });
});

it("fetches all of a message that is not shown in full, however many parts it has", async () => {
  const whole = "a message of more than thirty letters, to its END";
  const shown = entry([said("a message\n...(truncated)...")], { cut: true });
  expect(await wholeText(portOf(whole), KEY, shown)).toBe(whole);
  expect((await draftOf(portOf(whole), KEY, shown)).text).toBe(whole);
});

it("rather fails than to take a part for the whole", async () => {
  await expect(draftOf(portOf("", false), KEY, entry([said("cut …")], { cut: true }))).rejects.toThrow("not shown in full");
});

it("names a conversation after its first words", () => {
  expect(firstWords("  What is\n the  time? ")).toBe("What is the time?");
  expect(firstWords("")).toBe("");
  const long = firstWords("Please tell me a very long story about a cat and a dog and a house");
  expect(long).toBe("Please tell me a very long story about a cat and a dog and…");
  expect(firstWords("x".repeat(100))).toBe(`${"x".repeat(60)}…`);
});
