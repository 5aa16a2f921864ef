import { median } from "../measure";
import { print } from "../print";
import { mannWhitney } from "./mann-whitney";

const significance = 0.01;

/** In ms. */
export interface Times {
  known: number[];
  unknown: number[];
}

/** @returns whether the difference was significant in fewer than two of three runs */
export type Compare = (label: string, measure: () => Promise<Times>) => Promise<boolean>;

export function startTable(columns: string): Compare {
  print("");
  print(`| ${columns} | Known: number, median | Unknown: number, median | p |`);
  print(`|${"---|".repeat(columns.split("|").length + 3)}`);
  const summary = (sample: number[]) => `${sample.length}, ${median(sample).toFixed(2)} ms`;
  return async (label, measure) => {
    let significant = 0;
    for (let run = 1; run <= 3; run++) {
      const { known, unknown } = await measure();
      const p = mannWhitney(known, unknown);
      if (p < significance) significant++;
      print(`| ${label} | ${summary(known)} | ${summary(unknown)} | ${p.toFixed(3)} |`);
      if (significant === 0 || run - significant === 2) return true;
    }
    return significant < 2;
  };
}
