/** One line of a difference. `parts` mark what differs from the line's counterpart. */
export interface DiffLine {
  readonly sign: ' ' | '-' | '+';
  readonly number: number;
  readonly parts: readonly { readonly text: string; readonly isChanged: boolean }[];
}

const CELLS_MAX = 4_000_000;

/** The pairs of a longest common subsequence, by index. */
function commonPairs<Item>(one: readonly Item[], other: readonly Item[]): readonly (readonly [number, number])[] {
  const [rows, columns] = [one.length, other.length];
  // Texts of this size are shown as a whole removed and a whole added: comparing them would freeze the page.
  if (rows * columns > CELLS_MAX) return [];
  const width = columns + 1;
  const lengths = new Uint32Array((rows + 1) * width);
  for (let row = rows - 1; row >= 0; row -= 1) {
    for (let column = columns - 1; column >= 0; column -= 1) {
      lengths[row * width + column] =
        one[row] === other[column]
          ? (lengths[(row + 1) * width + column + 1] ?? 0) + 1
          : Math.max(lengths[(row + 1) * width + column] ?? 0, lengths[row * width + column + 1] ?? 0);
    }
  }
  const pairs: [number, number][] = [];
  let [row, column] = [0, 0];
  while (row < rows && column < columns) {
    if (one[row] === other[column]) {
      pairs.push([row, column]);
      row += 1;
      column += 1;
    } else if ((lengths[(row + 1) * width + column] ?? 0) >= (lengths[row * width + column + 1] ?? 0)) row += 1;
    else column += 1;
  }
  return pairs;
}

/** Lines of an expression: its own, and one for each part that `&&` or `||` joins at the outermost level. */
export function expressionLines(text: string): readonly string[] {
  if (text === '') return [];
  return text.split('\n').flatMap(splitAtJoints);
}

function splitAtJoints(line: string): readonly string[] {
  const lines: string[] = [];
  let from = 0;
  let depth = 0;
  let quote = '';
  for (let index = 0; index < line.length; index += 1) {
    const character = line.charAt(index);
    if (quote !== '') {
      if (character === '\\') index += 1;
      else if (character === quote) quote = '';
    } else if (character === "'" || character === '"') quote = character;
    else if ('([{'.includes(character)) depth += 1;
    else if (')]}'.includes(character)) depth -= 1;
    else if (depth === 0 && index > from && (line.startsWith('&&', index) || line.startsWith('||', index))) {
      lines.push(line.slice(from, index).trimEnd());
      from = index;
      index += 1;
    }
  }
  lines.push(line.slice(from).trimEnd());
  return lines;
}

const words = (text: string): readonly string[] => text.match(/'[^']*'|"[^"]*"|[\w.]+|\s+|[^\w\s]/gu) ?? [];

/** What of each of two lines the other one lacks. */
function markWords(one: string, other: string): readonly [DiffLine['parts'], DiffLine['parts']] {
  const [left, right] = [words(one), words(other)];
  const pairs = commonPairs(left, right);
  const kept: readonly [ReadonlySet<number>, ReadonlySet<number>] = [
    new Set(pairs.map(([index]) => index)),
    new Set(pairs.map(([, index]) => index)),
  ];
  const parts = (list: readonly string[], same: ReadonlySet<number>): DiffLine['parts'] => {
    const joined: { text: string; isChanged: boolean }[] = [];
    list.forEach((text, index) => {
      const isChanged = !same.has(index);
      const last = joined.at(-1);
      if (last !== undefined && last.isChanged === isChanged) last.text += text;
      else joined.push({ text, isChanged });
    });
    return joined;
  };
  return [parts(left, kept[0]), parts(right, kept[1])];
}

const whole = (text: string, isChanged: boolean): DiffLine['parts'] => [{ text, isChanged }];

/** Both texts as one list of lines with minus and plus signs. */
export function diffLines(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  const lines: DiffLine[] = [];
  let [left, right] = [0, 0];
  const gap = (leftEnd: number, rightEnd: number): void => {
    const removed = before.slice(left, leftEnd);
    const added = after.slice(right, rightEnd);
    const minus: DiffLine[] = [];
    const plus: DiffLine[] = [];
    const paired = Math.min(removed.length, added.length);
    // Of lines that were replaced, the last ones belong together: removed ones usually stand before them.
    removed.forEach((text, index) => {
      const twin = added[index - (removed.length - paired)];
      minus.push({
        sign: '-',
        number: left + index + 1,
        parts: twin === undefined ? whole(text, true) : markWords(text, twin)[0],
      });
    });
    added.forEach((text, index) => {
      const twin = index < paired ? removed[index + (removed.length - paired)] : undefined;
      plus.push({
        sign: '+',
        number: right + index + 1,
        parts: twin === undefined ? whole(text, true) : markWords(twin, text)[1],
      });
    });
    lines.push(...minus, ...plus);
    left = leftEnd;
    right = rightEnd;
  };
  for (const [leftIndex, rightIndex] of commonPairs(before, after)) {
    gap(leftIndex, rightIndex);
    lines.push({ sign: ' ', number: rightIndex + 1, parts: whole(after[rightIndex] ?? '', false) });
    left = leftIndex + 1;
    right = rightIndex + 1;
  }
  gap(before.length, after.length);
  return lines;
}
