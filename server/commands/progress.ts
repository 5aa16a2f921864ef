const width = 30; // characters
const interval = 100; // ms between two bars

export interface Progress {
  /** Shows a share from 0 to 1. */
  show(share: number): void;
  /** Prints a line on standard error, where the bar was. */
  print(line: string): void;
}

const withoutBar: Progress = {
  show() {},
  print: (line) => console.error(line),
};

/**
 * Runs `work` with a progress bar on standard error, which is removed afterwards. Where that is no terminal, no bar is
 * shown.
 */
export async function withProgress<T>(label: string, work: (progress: Progress) => Promise<T>): Promise<T> {
  const { stderr } = process;
  if (!stderr.isTTY) return work(withoutBar);
  let shown = 0;
  const remove = () => stderr.write("\r\u001b[K");
  const show = (share: number) => {
    const now = Date.now();
    if (now < shown + interval) return;
    shown = now;
    const filled = Math.round(Math.min(1, share) * width);
    const bar = "#".repeat(filled).padEnd(width, ".");
    stderr.write(`\r${label} [${bar}] ${String(Math.floor(share * 100)).padStart(3)} %`);
  };
  const print = (line: string) => {
    remove();
    console.error(line);
  };
  try {
    return await work({ show, print });
  } finally {
    remove();
  }
}
