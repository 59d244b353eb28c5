/** So many derivations, openings or signatures are done before others get their turn. */
export const TURN = 32;
