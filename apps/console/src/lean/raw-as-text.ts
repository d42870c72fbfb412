type Node = { type: string; value?: string; children?: Node[] };

/**
 * Stands in for `rehype-raw`, which brings a whole HTML parser along: HTML in an answer is shown as it was written. Nothing of it
 * becomes an element, so nothing of it can do anything.
 */
export default function rawAsText(): (tree: Node) => void {
  const visit = (node: Node): void => {
    if (node.type === 'raw') node.type = 'text';
    for (const child of node.children ?? []) visit(child);
  };
  return visit;
}
