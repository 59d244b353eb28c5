// The tree follows the grammar of protocol/policies 3 level by level. Parentheses leave no trace in it.

export type CompareOperator = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in';
export type Quantifier = 'any' | 'all' | 'filter';

interface Located {
  readonly column: number;
}

export interface JunctionNode extends Located {
  readonly kind: 'or' | 'and';
  readonly operands: readonly Node[];
}

export interface CompareNode extends Located {
  readonly kind: 'compare';
  readonly operator: CompareOperator;
  readonly left: Node;
  readonly right: Node;
}

export interface NotNode extends Located {
  readonly kind: 'not';
  readonly operand: Node;
}

/** A primary with its suffixes; kept flat, so that a long chain is not a deep tree. */
export interface PostfixNode extends Located {
  readonly kind: 'postfix';
  readonly primary: Node;
  readonly suffixes: readonly Suffix[];
}

export interface ListNode extends Located {
  readonly kind: 'list';
  readonly items: readonly Node[];
}

export interface CallNode extends Located {
  readonly kind: 'call';
  readonly name: string;
  readonly args: readonly Node[];
}

export type Node =
  | JunctionNode
  | CompareNode
  | NotNode
  | PostfixNode
  | ListNode
  | CallNode
  | (Located & { readonly kind: 'bool'; readonly value: boolean })
  | (Located & { readonly kind: 'integer'; readonly value: bigint })
  | (Located & { readonly kind: 'string'; readonly value: string })
  | (Located & { readonly kind: 'name'; readonly name: string });

export interface QuantifierSuffix extends Located {
  readonly kind: 'quantifier';
  readonly name: Quantifier;
  readonly variable: string;
  readonly body: Node;
}

export type Suffix =
  | (Located & { readonly kind: 'field'; readonly name: string })
  | (Located & { readonly kind: 'method'; readonly name: string; readonly args: readonly Node[] })
  | QuantifierSuffix
  | (Located & { readonly kind: 'index'; readonly index: Node })
  | (Located & { readonly kind: 'slice'; readonly from: Node; readonly to: Node });
