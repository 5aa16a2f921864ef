const width = 30; // characters
const interval = 100; // ms between two writes

/** Shows a share from 0 to 1. */
export type ShowProgress = (share: number) => void;

/**
 * Runs `work` with a progress bar on standard error, which is removed afterwards. Where that is no terminal, nothing is
 * shown.
 */
export async function withProgress<T>(label: string, work: (show: ShowProgress) => Promise<T>): Promise<T> {
  const { stderr } = process;
  if (!stderr.isTTY) return work(() => {});
  let shown = 0;
  const show = (share: number) => {
    const now = Date.now();
    if (now < shown + interval) return;
    shown = now;
    const filled = Math.round(Math.min(1, share) * width);
    const bar = "#".repeat(filled).padEnd(width, ".");
    stderr.write(`\r${label} [${bar}] ${String(Math.floor(share * 100)).padStart(3)} %`);
  };
  try {
    return await work(show);
  } finally {
    stderr.write("\r\u001b[K");
  }
}
