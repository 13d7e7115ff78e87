// Names that the build and the page's figures define above the scripts of browser/roof/, which form one script.
declare const KERNELS: Record<"plain" | "fused", string>;
declare const WORKER: string;
declare let text: (value: number, unit: string) => string;
declare let percent: (share: number) => string;
declare let safe: (text: string) => string;
