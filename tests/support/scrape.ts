/** A sample's name, and its labels as text: `{event="login.failed",reason="wrong_credentials"}`. */
const sampleLine = /^(\w+)(\{.*\})? (\S+)$/;

export async function scrape(port: number): Promise<Map<string, number>> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`The scrape was answered with ${response.status}`);
  const samples = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    samples.map((line) => {
      const [, name = "", labels = "", value] = sampleLine.exec(line) ?? [];
      if (name === "") throw new Error(`Not a sample: ${line}`);
      return [name + labels, Number(value)];
    }),
  );
}
