import { expect, test } from "vitest";
import { chosenModel, modelChoices, modelsWith } from "./pickers-models.ts";

const models = [
  { id: "big", name: "Big", provider: "acme", contextWindow: 1000 },
  { id: "small", name: "Small", provider: "acme" },
  { id: "m1", name: "Mine", provider: "home", reasoning: true },
  { id: "x", name: "X", provider: "keyed" },
];
const providers = [
  { id: "acme", label: "Acme", hasKey: false },
  { id: "keyed", label: "Keyed", hasKey: true },
];

test("models that surely answer stand before those that may, and those before the ones without a key", () => {
  const choices = modelChoices(models, providers, undefined);
  expect(choices.map(({ ref, hasKey }) => [ref, hasKey])).toEqual([
    ["keyed/x", true],
    ["home/m1", undefined],
    ["acme/big", false],
    ["acme/small", false],
  ]);
});

test("what the gateway tells of a model counts before what it tells of its provider; without a key it stands last", () => {
  const listed = models.map((model) =>
    model.provider === "home" ? { ...model, hasKey: false } : model.provider === "acme" ? { ...model, hasKey: true } : model,
  );
  expect(modelChoices(listed, providers, undefined).map(({ ref, hasKey }) => [ref, hasKey])).toEqual([
    ["acme/big", true],
    ["acme/small", true],
    ["keyed/x", true],
    ["home/m1", false],
  ]);
});

test("the current model stands first, and its provider's others are among those that answer", () => {
  expect(modelChoices(models, providers, "acme/small").map(({ ref }) => ref)).toEqual(["acme/small", "acme/big", "keyed/x", "home/m1"]);
});

test("numbers in names count by their size, not letter by letter", () => {
  const many = [10, 2, 1, 100].map((at) => ({ id: `m${at}`, name: `Model ${at}`, provider: "home" }));
  expect(modelChoices(many, [], undefined).map(({ name }) => name)).toEqual(["Model 1", "Model 2", "Model 10", "Model 100"]);
});

test("models are found by words of their name, provider or id", () => {
  const found = (words: string) => modelsWith(modelChoices(models, providers, undefined), words).map(({ ref }) => ref);
  expect(found("ACME bi")).toEqual(["acme/big"]);
  expect(found("mine")).toEqual(["home/m1"]);
  expect(found("")).toHaveLength(4);
});

test("a conversation's own model is one that neither is configured nor answers everywhere else", () => {
  const choices = modelChoices(models, providers, undefined);
  const defaults = { modelProvider: "home", model: "m1" };
  expect(chosenModel("home/m1", { defaults, answering: { model: null } }, choices)).toBeUndefined();
  expect(chosenModel("keyed/x", { defaults, answering: { model: "keyed/x" } }, choices)).toBeUndefined();
  expect(chosenModel("", { defaults }, choices)).toBeUndefined();
  expect(chosenModel("acme/big", { defaults, answering: { model: null } }, choices)).toEqual({ model: "acme/big", hasKey: false });
  expect(chosenModel("keyed/x", { defaults }, undefined)).toEqual({ model: "keyed/x", hasKey: undefined });
});
