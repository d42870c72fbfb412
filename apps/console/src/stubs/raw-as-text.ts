type Node = { type: string; value?: string; children?: Node[] };

/**
 * Replaces `rehype-raw`, which contains a complete HTML parser. Shows HTML in Markdown as text, so that it cannot run anything.
 */
export default function rawAsText(): (tree: Node) => void {
  const visit = (node: Node): void => {
    if (node.type === 'raw') node.type = 'text';
    for (const child of node.children ?? []) visit(child);
  };
  return visit;
}
