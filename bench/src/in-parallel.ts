/** Runs `work(0)` to `work(total - 1)`, `concurrency` at a time; rejects with the first failure. */
export async function inParallel(
  total: number,
  concurrency: number,
  work: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lanes = Array.from({ length: Math.min(concurrency, total) }, async () => {
    while (next < total) await work(next++);
  });
  await Promise.all(lanes);
}
