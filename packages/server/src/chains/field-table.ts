// Of every field of a transaction: who sees it before it is signed. A field without an entry does not compile, and
// field-table.test.ts changes every field to see that the entry is true.

/** A value that a signature covers, and that nobody would see. Each says why that does no harm. */
interface Unseen {
  readonly neither: string;
}

/** It follows from other fields, which have entries of their own. */
interface Derived<Transaction> {
  readonly derivedFrom: readonly (keyof Transaction)[];
}

/** Transactions of this kind do not have the field: its value is empty, and bytes that would fill it are refused. */
interface Absent {
  readonly absent: true;
}

/** Parsing refuses any other value. */
interface Fixed {
  readonly mustBe: string;
}

/** Velocity controls count it, or refuse what cannot be counted: as what. */
interface Counted {
  readonly velocity: string;
}

/** Policies see it under a name of their own, or within another fact. */
type Judged<Facts> = { readonly policy: keyof Facts & string } | { readonly policyIn: keyof Facts & string };

/** Policies see its parts, each by an entry of its own. */
type JudgedParts<Part, Facts> = {
  readonly [Name in keyof Facts & string]: {
    readonly policy: Name;
    readonly each: FieldTable<Part, Item<NonNullable<Facts[Name]>>>;
  };
}[keyof Facts & string];

type Item<List> = List extends readonly (infer Element)[] ? Element : List;

type Rule<Value, Facts, Transaction> =
  | Unseen
  | Derived<Transaction>
  | Absent
  | Fixed
  | Counted
  | (Item<Value> extends object
      ? JudgedParts<Item<Value>, Facts> | { readonly policyIn: keyof Facts & string }
      : Judged<Facts>);

/** `Facts` are what policies see, by their names for it. */
export type FieldTable<Transaction, Facts> = {
  readonly [Name in keyof Required<Transaction>]: Rule<NonNullable<Transaction[Name]>, Facts, Transaction>;
};

export interface FieldRule {
  readonly neither?: string;
  readonly derivedFrom?: readonly PropertyKey[];
  readonly absent?: true;
  readonly mustBe?: string;
  readonly velocity?: string;
  readonly policy?: string;
  readonly policyIn?: string;
  readonly each?: Readonly<Record<string, FieldRule>>;
}

/** By kind of transaction. */
export type FieldTables = Readonly<Record<string, Readonly<Record<string, FieldRule>>>>;
