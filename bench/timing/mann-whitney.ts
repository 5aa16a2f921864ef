/** Complementary error function; Numerical Recipes, section 6.2: relative error below 1.2e-7. */
function erfc(x: number): number {
  const t = 1 / (1 + x / 2);
  const coefficients = [
    -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587, -0.82215223,
    0.17087277,
  ];
  return t * Math.exp(-x * x + coefficients.reduceRight((sum, coefficient) => coefficient + t * sum, 0));
}

/**
 * Mann–Whitney U test, two-sided, by the normal approximation with correction for ties and continuity: the p-value
 * under the hypothesis that both samples come from one distribution. For samples of 20 and more.
 */
export function mannWhitney(a: number[], b: number[]): number {
  const pooled = [...a.map((value) => ({ value, own: true })), ...b.map((value) => ({ value, own: false }))];
  pooled.sort((one, other) => one.value - other.value);
  let rankSum = 0;
  let ties = 0;
  for (let start = 0, end = 0; start < pooled.length; start = end) {
    while (end < pooled.length && pooled[end]?.value === pooled[start]?.value) end++;
    const rank = (start + 1 + end) / 2;
    rankSum += rank * pooled.slice(start, end).filter(({ own }) => own).length;
    ties += (end - start) ** 3 - (end - start);
  }
  const n = pooled.length;
  const u = rankSum - (a.length * (a.length + 1)) / 2;
  const mean = (a.length * b.length) / 2;
  const deviation = Math.sqrt(((a.length * b.length) / 12) * (n + 1 - ties / (n * (n - 1))));
  const z = Math.max(0, Math.abs(u - mean) - 0.5) / deviation;
  return Math.min(1, erfc(z / Math.SQRT2));
}
