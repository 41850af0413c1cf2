// SPDX-License-Identifier: Apache-2.0
import tseslint from "typescript-eslint";

export default tseslint.config(
    { ignores: ["node_modules"] },
    ...tseslint.configs.strict,
    {
        files: ["src/**/*.ts", "src/**/*.tsx", "test/**/*.ts"],
        languageOptions: { parserOptions: { project: ["./tsconfig.json", "./test/tsconfig.json"] } },
        rules: {
            "@typescript-eslint/no-floating-promises": "error",
            "@typescript-eslint/no-misused-promises": "error",
            "@typescript-eslint/switch-exhaustiveness-check": "off",
            // Text of other processes must never become markup.
            "no-restricted-properties": ["error", ...["innerHTML", "outerHTML", "insertAdjacentHTML"].map((property) => ({ property }))],
            "no-restricted-syntax": ["error",
                { selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']", message: "names of other processes are text" }],
            "no-eval": "error",
        },
    },
    // The runner waits for the tests itself.
    { files: ["test/**/*.ts"], rules: { "@typescript-eslint/no-floating-promises": "off" } },
);
