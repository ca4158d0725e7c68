/** Milliseconds of processor time that work takes on this thread: other programs on the machine do not count. */
export async function threadMs(work: () => unknown): Promise<number> {
  const from = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(from);
  return (user + system) / 1000;
}
