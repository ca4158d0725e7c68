/** Signs for A2UI's icon names. Others are shown as a dot: no font is loaded for them. */
const SIGNS: Readonly<Record<string, string>> = {
  add: "+",
  arrowBack: "←",
  arrowForward: "→",
  calendarToday: "📅",
  call: "📞",
  camera: "📷",
  check: "✓",
  close: "✕",
  delete: "🗑",
  download: "↓",
  edit: "✎",
  error: "⚠",
  event: "📅",
  favorite: "♥",
  folder: "📁",
  help: "?",
  home: "⌂",
  info: "ℹ",
  locationOn: "📍",
  lock: "🔒",
  mail: "✉",
  menu: "☰",
  moreHoriz: "…",
  moreVert: "⋮",
  notifications: "🔔",
  payment: "💳",
  person: "👤",
  phone: "📞",
  photo: "🖼",
  print: "🖨",
  refresh: "↻",
  search: "🔍",
  send: "➤",
  settings: "⚙",
  share: "↗",
  shoppingCart: "🛒",
  star: "★",
  starOff: "☆",
  upload: "↑",
  warning: "⚠",
};

/** The sign of an icon; names come as `arrowBack` or `arrow_back`. */
export function iconFor(name: string): string {
  const camel = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return (Object.hasOwn(SIGNS, camel) ? SIGNS[camel] : undefined) ?? "•";
}
