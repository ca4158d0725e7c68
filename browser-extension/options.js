import { installedSettings, isValid } from "./settings.js";

const text = (name, ...values) => chrome.i18n.getMessage(name, values.map(String));
const element = (id) => document.getElementById(id);

document.documentElement.lang = chrome.i18n.getUILanguage();
for (const node of document.querySelectorAll("[data-text]")) node.textContent = text(node.dataset.text);
document.title = text("optionsTitle");

const [installed, { entered }] = await Promise.all([installedSettings(), chrome.storage.local.get("entered")]);
element("installed").textContent = installed ? text("installedFound", installed.port) : text("installedMissing");
element("installed-button").hidden = !installed;
element("port").value = String(entered?.port ?? installed?.port ?? 18792);
element("secret").value = entered?.secret ?? "";

const say = (name) => (element("outcome").textContent = text(name));

async function save() {
  const next = { port: Number(element("port").value.trim()), secret: element("secret").value.trim() };
  if (isValid(next)) await chrome.storage.local.set({ entered: next });
  say(isValid(next) ? "saved" : "invalid");
}

async function forget() {
  await chrome.storage.local.remove("entered");
  element("secret").value = "";
  say("saved");
}

document.querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault();
  void save();
});

element("installed-button").addEventListener("click", () => void forget());
