import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect } from "vitest";
import type { Scene } from "../conformance.ts";
import { hears } from "./heard.ts";

const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
const MB = 1024 * 1024;

/** Files in both directions. */
export function mediaTests({ checkWith, checkAmongOthers }: Scene): void {
  checkAmongOthers(["mediaIn"], "a picture reaches the model", async (lab) => {
    await lab.say("see w-apple", { file: { name: "apple.png", mime: "image/png", data: PNG } });
    await hears(lab, "w-apple");
    expect(lab.gateway.model.requests).toHaveLength(1);
    expect(lab.gateway.model.requests[0]!.images).toBe(1);
  });

  checkAmongOthers(["mediaStored"], "a file is kept for its owner alone, and is what its bytes are, not what it is called", async (lab) => {
    await lab.say("see w-apple", { file: { name: "apple.txt", mime: "text/plain", data: PNG } });
    await hears(lab, "w-apple");
    const files = lab.gateway.storedMedia();
    expect(files).toMatchObject([{ bytes: PNG.length, mode: 0o600, name: expect.stringMatching(/\.png$/) as string }]);
    expect(readFileSync(files[0]!.path)).toEqual(PNG);
    const { body, images } = lab.gateway.model.requests[0]!;
    expect(images === 1 || body.includes(basename(files[0]!.path)), "the model gets it, or its path").toBe(true);
  });

  checkWith(
    "mediaStored",
    "a file above the limit is not kept, and its message is answered",
    async (lab) => {
      await lab.say("see w-apple", { file: { name: "big.bin", mime: "application/octet-stream", data: Buffer.alloc(MB + 1, 7) } });
      await hears(lab, "w-apple");
      expect(lab.gateway.storedMedia()).toEqual([]);
    },
    { channel: { mediaMaxMb: 1 } },
  );

  checkAmongOthers(["mediaOut"], "a file of the agent's folder is sent with the answer", async (lab) => {
    const path = join(lab.gateway.workspace, "chart.png");
    writeFileSync(path, PNG);
    lab.gateway.model.answers(() => `Here is w-apple.\nMEDIA:${path}`);
    await lab.say("draw w-apple");
    await hears(lab, "w-apple");
    await expect.poll(() => lab.received().flatMap(({ file }) => file?.data ?? [])).toEqual([PNG]);
    expect(
      lab
        .received()
        .map(({ text }) => text.trim())
        .filter(Boolean),
    ).toEqual(["Here is w-apple."]);
  });

  checkAmongOthers(["mediaOut"], "a file from elsewhere is not sent", async (lab) => {
    const path = join(lab.gateway.place.home, "secret.png");
    writeFileSync(path, PNG);
    lab.gateway.model.answers(() => `Here is w-apple.\nMEDIA:${path}`);
    await lab.say("show w-apple");
    await hears(lab, "w-apple");
    lab.gateway.model.answers(undefined);
    await lab.say("and w-plum?");
    await hears(lab, "w-plum");
    expect(lab.received().flatMap(({ file }) => file ?? [])).toEqual([]);
  });
}
