import { svg, type SVGTemplateResult } from "lit";

/** Outlines on a grid of 24, drawn with the colour of the text. */
const PATHS = {
  chat: svg`<path d="M4 5h16v11H9l-5 4z"/>`,
  overview: svg`<path d="M4 19V9m5 10V5m5 14v-7m5 7V8"/>`,
  trace: svg`<path d="M4 6h8M8 11h9m-6 5h9M4 20h5"/>`,
  config: svg`<path d="M4 7h9m4 0h3M4 17h3m4 0h9"/><circle cx="15" cy="7" r="2"/><circle cx="9" cy="17" r="2"/>`,
  plugins: svg`<path d="M9 4v4m6-4v4M6 8h12v4a6 6 0 0 1-12 0zm6 10v3"/>`,
  channels: svg`<path d="M5 8a10 10 0 0 1 14 0M8 12a6 6 0 0 1 8 0m-4 4v.5"/>`,
  devices: svg`<rect x="3" y="5" width="12" height="10" rx="1.5"/><path d="M7 19h5"/><rect x="17" y="9" width="4.5" height="10" rx="1"/>`,
  tree: svg`<circle cx="6" cy="5" r="2"/><circle cx="17" cy="11" r="2"/><circle cx="17" cy="19" r="2"/><path d="M6 7v12h9M6 11h9"/>`,
  agents: svg`<circle cx="12" cy="8" r="4"/><path d="M4 21c1-5 4-7 8-7s7 2 8 7"/>`,
  sessions: svg`<path d="M6 4h12v16H6zm3 4h6m-6 4h6m-6 4h3"/>`,
  memory: svg`<path d="M5 6.5C5 5 8 4 12 4s7 1 7 2.5S16 9 12 9s-7-1-7-2.5zm0 0v11C5 19 8 20 12 20s7-1 7-2.5v-11M5 12c0 1.5 3 2.5 7 2.5s7-1 7-2.5"/>`,
  logs: svg`<path d="M4 6h16M4 11h12M4 16h16M4 21h8"/>`,
  start: svg`<path d="m12 3 2.6 6.2L21 10l-5 4.3 1.6 6.7L12 17.4 6.4 21 8 14.3 3 10l6.4-.8z"/>`,
  more: svg`<circle cx="5" cy="12" r="1"/><circle cx="12" cy="12" r="1"/><circle cx="19" cy="12" r="1"/>`,
  menu: svg`<path d="M4 7h16M4 12h16M4 17h16"/>`,
  close: svg`<path d="m6 6 12 12M18 6 6 18"/>`,
  search: svg`<circle cx="11" cy="11" r="6"/><path d="m16 16 5 5"/>`,
  send: svg`<path d="M12 20V5m-6 6 6-6 6 6"/>`,
  stop: svg`<rect x="7" y="7" width="10" height="10" rx="1.5"/>`,
  attach: svg`<path d="m20 11-8 8a5 5 0 0 1-7-7l8-8a3.3 3.3 0 0 1 5 5l-8 8a1.7 1.7 0 0 1-2.4-2.4L15 7"/>`,
  microphone: svg`<rect x="9" y="3" width="6" height="11" rx="3"/><path d="M5 11a7 7 0 0 0 14 0m-7 7v3"/>`,
  copy: svg`<rect x="9" y="9" width="11" height="11" rx="2"/><path d="M5 15V5h10"/>`,
  edit: svg`<path d="m4 20 1-5L16 4l4 4L9 19z"/>`,
  retry: svg`<path d="M4 12a8 8 0 1 1 3 6m-3 2v-4h4"/>`,
  check: svg`<path d="m5 12 5 5 9-10"/>`,
  warn: svg`<path d="M12 4 2.5 20h19zm0 6v5m0 2.5v.1"/>`,
  plus: svg`<path d="M12 5v14M5 12h14"/>`,
  trash: svg`<path d="M5 7h14M10 7V4h4v3m-7 0 1 13h8l1-13"/>`,
  download: svg`<path d="M12 4v11m-5-5 5 5 5-5M5 20h14"/>`,
  sun: svg`<circle cx="12" cy="12" r="4"/><path d="M12 3v2m0 14v2M3 12h2m14 0h2M6 6l1 1m10 10 1 1M6 18l1-1M17 7l1-1"/>`,
  moon: svg`<path d="M20 14A8 8 0 0 1 10 4a8 8 0 1 0 10 10z"/>`,
  half: svg`<circle cx="12" cy="12" r="8"/><path d="M12 4v16a8 8 0 0 0 0-16z" fill="currentColor"/>`,
  down: svg`<path d="m6 9 6 6 6-6"/>`,
  right: svg`<path d="m9 6 6 6-6 6"/>`,
  tool: svg`<path d="M14 6a4 4 0 0 0-5 5l-5 5 4 4 5-5a4 4 0 0 0 5-5l-3 3-3-1-1-3z"/>`,
  key: svg`<circle cx="8" cy="15" r="4"/><path d="m11 12 8-8m-4 4 3 3"/>`,
  clock: svg`<circle cx="12" cy="12" r="8"/><path d="M12 7v5l3 2"/>`,
  up: svg`<path d="m6 15 6-6 6 6"/>`,
  left: svg`<path d="m15 6-6 6 6 6"/>`,
} satisfies Record<string, SVGTemplateResult>;

export type IconName = keyof typeof PATHS;

/** A picture beside words. On its own a button needs an `aria-label`. */
export function icon(name: IconName, size = 18): SVGTemplateResult {
  return svg`<svg width=${size} height=${size} viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false">${PATHS[name]}</svg>`;
}
