// What domains offer to the operations of others as well as their own. Each domain adds its services to these interfaces
// beside where it defines them; the engine hands them on and knows none of them.

/** For queries. */
// biome-ignore lint/suspicious/noEmptyInterface: domains fill it.
export interface QueryServices {}

/** For preparing what an activity does: outside the transaction. */
// biome-ignore lint/suspicious/noEmptyInterface: domains fill it.
export interface PrepareServices {}
