/** Arcs of a ring that begins at the top and runs clockwise. */
export function arc(center: number, radius: number, from: number, to: number): string {
  const point = (turn: number): string => {
    const angle = turn * 2 * Math.PI - Math.PI / 2;
    return `${round(center + radius * Math.cos(angle))} ${round(center + radius * Math.sin(angle))}`;
  };
  // A whole ring needs two arcs: one that ends where it begins is none.
  if (to - from >= 1)
    return `${arc(center, radius, from, from + 0.5)} ${arc(center, radius, from + 0.5, from + 0.9999)}`;
  return `M${point(from)} A${radius} ${radius} 0 ${to - from > 0.5 ? 1 : 0} 1 ${point(to)}`;
}

const round = (value: number): number => Math.round(value * 100) / 100;
