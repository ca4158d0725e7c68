import { advanced, amount, choice, flag, group, map, text, texts, whole } from "./pieces.ts";
import { hexColor } from "./parts.ts";

const profile = group(
  "One browser profile.",
  {
    cdpPort: whole("Port of its control protocol.", { minimum: 1, maximum: 65_535 }),
    cdpUrl: text("Address of a browser that runs elsewhere."),
    driver: choice("Own browser or the extension's.", ["clawd", "extension"]),
    color: hexColor("Colour that marks its windows."),
  },
  ["color"],
);

export const browser = group("The browser that agents use.", {
  enabled: flag("Offer it."),
  evaluateEnabled: flag("Let agents run scripts in pages."),
  cdpUrl: text("Address of a browser that runs elsewhere."),
  remoteCdpTimeoutMs: amount("How long such a browser may take to answer.", advanced),
  remoteCdpHandshakeTimeoutMs: amount("How long connecting to it may take.", advanced),
  color: text("Colour that marks its windows."),
  executablePath: text("Browser program."),
  headless: flag("Run without windows."),
  noSandbox: flag("Turn off the browser's own sandbox.", advanced),
  attachOnly: flag("Never start a browser."),
  defaultProfile: text("Profile used when none is named."),
  snapshotDefaults: group("How pages are described.", { mode: choice("Amount of detail.", ["efficient"]) }, [], advanced),
  ssrfPolicy: group(
    "Addresses that pages may have.",
    {
      allowPrivateNetwork: flag("Private networks as well."),
      allowedHostnames: texts("Always allow these hosts."),
      hostnameAllowlist: texts("Only these hosts."),
    },
    [],
    advanced,
  ),
  profiles: map("Profiles by name.", profile, { propertyNames: { type: "string", pattern: "^[a-z0-9-]+$" } }),
});
