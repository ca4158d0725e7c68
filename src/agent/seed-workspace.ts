import { seedWorkspace as seed, type Seeded, type SeedOptions } from "./workspace/seed.ts";

/** Makes a workspace and those of its first files that are missing, from the template that it began with. */
export const seedWorkspace = (options: Omit<SeedOptions, "templateFiles">): Promise<Seeded> =>
  seed({
    ...options,
    async templateFiles({ id, facts }) {
      const { TEMPLATES } = await import("./templates/index.ts");
      return TEMPLATES.find((template) => template.id === id)?.files(facts);
    },
  });
