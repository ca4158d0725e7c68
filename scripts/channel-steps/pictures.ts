/** The drawings of `setupSteps` in the manifests of channels, as files of the documentation. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { drawStep, type Shape, type Step, type StepPicture } from "../../ui/src/pages/start/step-shapes.ts";

const ROOT = join(import.meta.dirname, "..", "..");

/** The page's light theme; a file cannot use its variables. */
const STYLE = [
  "text{font:11px system-ui,sans-serif;fill:#22201c}",
  ".middle{text-anchor:middle}",
  ".strong{font-weight:600}",
  ".faint{fill:#756f64}",
  ".light{font:10px ui-monospace,monospace}",
  ".on-button,.on-badge{fill:#fff}",
  ".frame,.input,.knob{fill:#fff;stroke:#c4beb3}",
  ".bar,.side,.theirs,.terminal{fill:#f1efeb}",
  ".dot{fill:#c4beb3}",
  ".button,.badge{fill:#b3361e}",
  ".track{fill:#1d7a46}",
  ".mine{fill:#fbe9e4}",
  ".cell{fill:#22201c}",
  ".ring{fill:none;stroke:#b3361e;stroke-width:2}",
].join("");

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
const rounded = (value: number): string => String(Math.round(value * 10) / 10);

function element(shape: Shape): string {
  const at = `x="${rounded(shape.x)}" y="${rounded(shape.y)}"`;
  if (shape.kind === "words") return `<text class="${shape.look}${shape.middle ? " middle" : ""}" ${at}>${escaped(shape.text)}</text>`;
  return `<rect class="${shape.look}" ${at} width="${rounded(shape.width)}" height="${rounded(shape.height)}" rx="${shape.round}"/>`;
}

function svgOf(picture: StepPicture, title: string): string {
  const { width, height, shapes } = drawStep(picture);
  const { click = [] } = picture;
  if (shapes.filter(({ look }) => look === "ring").length !== click.length) throw new Error(`not all of ${click.join(", ")} is drawn in the step "${title}"`);
  const size = `width="${width}" height="${rounded(height)}" viewBox="0 0 ${width} ${rounded(height)}"`;
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size}>`,
    `<title>${escaped(title)}</title>`,
    `<style>${STYLE}</style>`,
    ...shapes.map(element),
    "</svg>",
  ];
  return `${lines.join("\n")}\n`;
}

interface Manifest {
  readonly channelConfigs?: Readonly<Record<string, { readonly setupSteps?: readonly Step[] }>>;
}

/** Contents by path from the root of the repository: `docs/channels/<id>/step-<n>.svg`, with the numbers that the page shows. */
export function stepPictures(): ReadonlyMap<string, string> {
  const manifests = readdirSync(join(ROOT, "plugins")).map(
    (id) => JSON.parse(readFileSync(join(ROOT, "plugins", id, "openclaw.plugin.json"), "utf8")) as Manifest,
  );
  const channels = manifests.flatMap(({ channelConfigs = {} }) => Object.entries(channelConfigs));
  return new Map(
    channels.flatMap(([id, { setupSteps = [] }]) =>
      setupSteps.flatMap(({ text, picture }, at): [string, string][] =>
        picture === undefined ? [] : [[`docs/channels/${id}/step-${at + 1}.svg`, svgOf(picture, text)]],
      ),
    ),
  );
}
