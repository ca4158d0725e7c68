import { expect, onTestFinished, test } from "vitest";
import { manualClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import { createHooks } from "../../src/hooks/index.ts";
import { loadImageFitting, type ImageFitter } from "../../src/media/index.ts";
import type { ImageContent, TextContent } from "../../src/protocol/index.ts";
import { createBroker } from "../../src/tools/index.ts";
import { openAgentFixture } from "../harness/agent-fixture.ts";

async function picture(width: number): Promise<ImageContent> {
  const { default: sharp } = await import("sharp");
  const data = await sharp({ create: { width, height: 20, channels: 3, background: "#123456" } })
    .png()
    .toBuffer();
  return { type: "image", data: data.toString("base64"), mimeType: "image/png" };
}

async function widthOf({ data }: ImageContent): Promise<number> {
  const { default: sharp } = await import("sharp");
  return (await sharp(Buffer.from(data, "base64")).metadata()).width;
}

const fitter = async (maxSide: number): Promise<ImageFitter> => (await loadImageFitting()).createImageFitter({ maxSide: () => maxSide, log: silentLogger });
const HEAVY: ImageContent = { type: "image", mimeType: "image/png", data: Buffer.alloc(6 * 1024 * 1024, 1).toString("base64") };

test("images of a message are scaled before the model sees them; one that cannot be scaled is reported as omitted", async () => {
  const at = await openAgentFixture({ says: ["seen"], deps: { fitImages: await fitter(100) } });
  onTestFinished(() => at[Symbol.asyncDispose]());
  await at.turn("look", { images: [await picture(300), HEAVY] });
  const content = at.requests[0]!.messages[0]!.content as readonly (ImageContent | TextContent)[];
  const images = content.filter((part) => part.type === "image");
  expect(await Promise.all(images.map(widthOf))).toEqual([100]);
  expect(JSON.stringify(content[0])).toContain("[image] omitted");
});

test("images in results of tools are scaled, wherever the tool comes from", async () => {
  const clock = manualClock();
  const wide = await picture(300);
  const broker = createBroker({
    clock,
    log: silentLogger,
    config: () => ({}),
    tools: () => [
      {
        name: "shoot",
        description: "takes a picture",
        parameters: { type: "object", properties: {} },
        source: { kind: "plugin", id: "camera" },
        run: () => Promise.resolve({ content: [{ type: "text", text: "here" }, wide, HEAVY], isError: false }),
      },
    ],
    facts: () => ({ sandboxed: false }),
    hooks: createHooks({ clock, log: silentLogger }),
    askApproval: () => Promise.resolve("deny"),
    fitImages: await fitter(100),
  });
  const box = await broker.open({ agentId: "main", sessionKey: "s", sessionId: "s", runId: "r", workspaceDir: "/nowhere", owner: true });
  const { content } = await box.run({ id: "c", name: "shoot", arguments: {}, signal: new AbortController().signal });
  expect(content).toMatchObject([{ text: "here" }, { type: "image", mimeType: "image/jpeg" }, { text: expect.stringContaining("[image] omitted") as string }]);
  expect(await widthOf(content[1] as ImageContent)).toBe(100);
});

test("a damaged image of a message never reaches a model: a text in its place says so, in this turn and later ones", async () => {
  const at = await openAgentFixture({ says: ["seen", "still fine"], deps: { fitImages: await fitter(1200) } });
  onTestFinished(() => at[Symbol.asyncDispose]());
  const whole = await picture(50);
  const cut: ImageContent = { ...whole, data: Buffer.from(whole.data, "base64").subarray(0, 60).toString("base64") };
  const text: ImageContent = { type: "image", mimeType: "image/png", data: Buffer.from("just a text").toString("base64") };
  expect(await at.turn("look", { images: [cut, text, whole] })).toMatchObject({ status: "ok" });
  expect(await at.turn("and?")).toMatchObject({ status: "ok" });
  for (const { messages } of at.requests) {
    const content = messages[0]!.content as readonly (ImageContent | TextContent)[];
    expect(content.filter((part) => part.type === "image")).toEqual([whole]);
    expect(JSON.stringify(content)).toMatch(/damaged or incomplete.*no PNG, JPEG, GIF or WebP/s);
  }
});
