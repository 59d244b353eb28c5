/** Shapes of the queries behind this console (docs/guides/console.md). */
/** A piece of a sentence. `userText`: somebody wrote it, so its direction is isolated. */
export interface TextPart {
  readonly text: string;
  readonly strong?: boolean;
  readonly userText?: boolean;
  /** The full address; lists show it short. */
  readonly address?: string;
  readonly caip2?: string;
}

export type Risk = 'ROUTINE' | 'LOOK_CLOSELY' | 'DANGER' | 'UNREADABLE';

export interface RiskReason {
  readonly risk: Risk;
  readonly text: string;
}

export interface DescribedField {
  readonly label: string;
  readonly value: readonly TextPart[];
  readonly kind: 'TEXT' | 'ADDRESS' | 'AMOUNT' | 'ID' | 'TIME' | 'BYTES' | 'CODE';
  readonly note?: string;
}

export interface Recipient {
  readonly address: string;
  readonly name?: string;
  readonly paidCount: number;
  readonly paidSince?: string;
  /** There were too many of them: nothing is known of this one. */
  readonly notLookedUp?: boolean;
  readonly lookAlike?: { readonly address: string; readonly name?: string };
}

export interface QuorumState {
  readonly threshold: number;
  readonly users: readonly { readonly userId: string; readonly userName: string }[];
}

export interface PolicyText {
  readonly policyName: string;
  readonly effect: string;
  readonly condition: string;
  readonly consensus: string;
  readonly time?: string;
  readonly notes?: string;
}

export interface Description {
  readonly activityId?: string;
  readonly type: string;
  readonly kind: string;
  readonly sentence: readonly TextPart[];
  readonly text: string;
  readonly risk: Risk;
  readonly marks: readonly RiskReason[];
  readonly consequence?: string;
  readonly steps: readonly { readonly sentence: readonly TextPart[]; readonly risk: Risk }[];
  readonly fields: readonly DescribedField[];
  readonly sender?: {
    readonly address: string;
    readonly name?: string;
    readonly walletId?: string;
    readonly caip2?: string;
  };
  readonly recipients: readonly Recipient[];
  readonly bytes?: { readonly algorithm: string; readonly digest: string; readonly unsigned: string };
  readonly quorumChange?: { readonly before: QuorumState; readonly after: QuorumState };
  readonly policyChange?: {
    readonly direction: 'WIDEN' | 'NARROW' | 'CHANGE';
    readonly before?: PolicyText;
    readonly after?: PolicyText;
  };
}

/** A policy's reasons in plain words. */
export interface Explanation {
  readonly sentence: readonly TextPart[];
  readonly parts: readonly {
    readonly text: string;
    readonly holds: boolean | null;
    readonly decides?: boolean;
    readonly depth: number;
  }[];
  readonly whatWouldPass?: string;
}
