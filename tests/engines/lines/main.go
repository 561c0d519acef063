// main.go - do the lines of docs/fleet.md for Alloy and Kubernetes say what their own readers
// understand? Both readers are these projects' own Go modules.
//
//	lines alloy|pod <LINES
//
// SPDX-License-Identifier: MIT
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/grafana/alloy/syntax/parser"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

func main() {
	text, err := io.ReadAll(os.Stdin)
	if err == nil && os.Args[1] == "alloy" {
		_, err = parser.ParseFile("docs/fleet.md", text)
	} else if err == nil {
		var pod core.Pod
		err = yaml.UnmarshalStrict(text, &pod)
		fmt.Println(len(pod.Spec.Containers), "containers")
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
