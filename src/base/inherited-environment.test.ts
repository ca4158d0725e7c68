import { expect, test } from "vitest";
import { inheritedEnvironment, secretValues } from "./inherited-environment.ts";
import { createRedactor } from "./redaction.ts";

test("commands inherit a proxy, and its password counts as a secret in every form in which it may be printed", () => {
  const proxy = "http://robot:Pr0xy%21Word@proxy.example:3128";
  const env = { HTTPS_PROXY: proxy, http_proxy: "robot:plainword77@proxy.example:3128", DATABASE_URL: "postgres://app:Dat4base!Word@db/x", PATH: "/usr/bin" };
  expect(inheritedEnvironment(env)).toEqual({ HTTPS_PROXY: proxy, http_proxy: env.http_proxy, PATH: "/usr/bin" });
  const redactor = createRedactor();
  secretValues(env).forEach(redactor.register);
  const shown = [
    `HTTPS_PROXY=${proxy}`,
    "the password is Pr0xy!Word",
    `Proxy-Authorization: Basic ${Buffer.from("robot:Pr0xy!Word").toString("base64")}`,
    `x=${env.http_proxy}`,
    "plainword77",
    "connecting to app:Dat4base!Word@db",
    "Dat4base!Word",
  ].map((text) => redactor.secrets(text));
  for (const text of shown) expect(text).not.toMatch(/Pr0xy|plainword77|Dat4base|cm9ib3Q6UHIweHkhV29y/);
  expect(redactor.secrets("proxy.example:3128 and robot are no secrets")).toBe("proxy.example:3128 and robot are no secrets");
});

test("addresses without a password and ordinary values are not secrets", () => {
  expect(
    secretValues({ HTTPS_PROXY: "http://proxy.example:3128", GIT_AUTHOR_EMAIL: "a@b.example", DOCKER_HOST: "ssh://root@host", LANG: "C", TIME: "12:30" }),
  ).toEqual([]);
  expect(secretValues({ GOPROXY: "https://a:W0rd-of-go@one,https://b:W0rd-of-two@two" })).toEqual(expect.arrayContaining(["W0rd-of-go", "W0rd-of-two"]));
});
