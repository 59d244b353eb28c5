import type { HashedTypedData, TypedStruct, TypedValue } from '../../chains/ethereum/eip712.ts';
import { say, strong, type TextPart } from '../text.ts';
import { byteCount, dateText } from '../values.ts';

// What stands in typed data (EIP-712), by name and by declared type.

export const hexAt = (struct: TypedStruct, name: string): string | undefined => {
  const found = struct.get(name);
  return found?.kind === 'hex' && found.value.length === 42 ? found.value : undefined;
};

export const uintAt = (struct: TypedStruct, name: string): bigint | undefined => {
  const found = struct.get(name);
  return found?.kind === 'uint' ? found.value : undefined;
};

export const structsAt = (struct: TypedStruct, name: string): readonly TypedStruct[] => {
  const found = struct.get(name);
  const list = found?.kind === 'list' ? found.value : found === undefined ? [] : [found];
  return list.flatMap((one) => (one.kind === 'struct' ? [one.value] : []));
};

/** Times so far ahead are no end; zero means none in DAI's permit. */
export const endOf = (seconds: bigint | undefined): bigint | undefined =>
  seconds === undefined || seconds === 0n || seconds > 100_000_000_000n ? undefined : seconds;

/** Until when a signature can be used; in seconds. */
export function untilWords(seconds: bigint | undefined, nowMs: number): readonly TextPart[] {
  const end = endOf(seconds);
  const date = end === undefined ? undefined : dateText(Number(end) * 1000);
  return date === undefined ? say`, without an end` : say` until ${strong(withoutThisYear(date, nowMs))}`;
}

const withoutThisYear = (date: string, nowMs: number): string =>
  date.endsWith(` ${new Date(nowMs).getUTCFullYear()}`) ? date.slice(0, -5) : date;

/** What typed data has in it at any depth, whatever it is for. */
export interface TypedContents {
  /** Of structs and of their members. */
  readonly names: ReadonlySet<string>;
  /** In members of type `bytes`, which no type explains: they may be a call. */
  readonly opaqueBytes: number;
  readonly leafCount: number;
}

export function contentsOf({ primaryType, message, types }: HashedTypedData): TypedContents {
  const names = new Set<string>([primaryType]);
  let [opaqueBytes, leafCount] = [0, 0];
  const visit = (type: string, value: TypedValue): void => {
    if (value.kind === 'list') {
      const element = type.replace(/\[[0-9]*\]$/, '');
      for (const item of value.value) visit(element, item);
    } else if (value.kind === 'struct') {
      names.add(type);
      struct(type, value.value);
    } else {
      leafCount += 1;
      if (type === 'bytes' && value.kind === 'hex') opaqueBytes += byteCount(value.value);
    }
  };
  const struct = (type: string, members: TypedStruct): void => {
    for (const member of types.get(type) ?? []) {
      names.add(member.name);
      const value = members.get(member.name);
      if (value !== undefined) visit(member.type, value);
    }
  };
  struct(primaryType, message);
  return { names, opaqueBytes, leafCount };
}
