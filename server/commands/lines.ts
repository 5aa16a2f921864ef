const longest = 16_384; // bytes
const lineFeed = 0x0a;

/** A line of a file: its number, from 1, and its bytes without the line break. Of one that is too long, `null`. */
export interface Line {
  number: number;
  bytes: Buffer | null;
}

/** The lines of a stream, whose longest is never held whole. Node's readline also splits at U+2028 within JSON. */
export async function* linesOf(stream: AsyncIterable<Buffer>): AsyncIterable<Line> {
  let number = 1;
  let begun: Buffer[] = [];
  let length = 0;
  const end = (): Line => {
    const bytes = length > longest ? null : Buffer.concat(begun);
    begun = [];
    length = 0;
    return { number: number++, bytes };
  };
  const add = (part: Buffer) => {
    length += part.length;
    if (length > longest) begun = [];
    else begun.push(part);
  };
  for await (const chunk of stream) {
    let from = 0;
    for (let at = chunk.indexOf(lineFeed); at !== -1; at = chunk.indexOf(lineFeed, from)) {
      add(chunk.subarray(from, at));
      yield end();
      from = at + 1;
    }
    add(chunk.subarray(from));
  }
  if (length > 0) yield end();
}
