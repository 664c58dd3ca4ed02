// What the real claim controller does beside the scheduler.

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func template(name string) object {
	request := object{"name": "r", "exactly": object{"deviceClassName": "dev"}}
	return object{"kind": "ResourceClaimTemplate", "metadata": object{"name": name}, "spec": object{"spec": object{"devices": object{"requests": []any{request}}}}}
}

// entries are of the form NAME=TEMPLATE.
func entries(all ...string) (found []any) {
	for _, entry := range all {
		name, template, _ := strings.Cut(entry, "=")
		found = append(found, object{"name": name, "resourceClaimTemplateName": template})
	}
	return found
}

// claimsAre compares all claims and who reserved them.
func (w *world) claimsAre(expected string) {
	w.Helper()
	var found []string
	for name, status := range w.look().Claims {
		var users []string
		for _, user := range status.ReservedFor {
			users = append(users, user.Name)
		}
		found = append(found, fmt.Sprintf("%s(%s)", name, strings.Join(users, ",")))
	}
	slices.Sort(found)
	if text := strings.Join(found, " "); text != expected {
		w.Errorf("claims: found %q, expected %q", text, expected)
	}
}

func TestClaimController(t *testing.T) {
	setup := Setup{Gates: claiming, ClaimController: true}
	facts(t, []fact{
		{"a group's claim is made once, given back with the group, and deleted", setup, func(w *world) {
			uses := entries("c=t")
			w.create(node("n", 4), devices(1, "n"), template("t"), group("g", 2, "resourceClaims", uses), podsOf("p1 p2", in("g"), spec("resourceClaims", uses)))
			w.settle()
			w.bound("p1@n p2@n")
			w.claimsAre("g-c-0(g)")
			w.step(Step{Finish: []string{"p1", "p2"}})
			w.claimsAre("g-c-0(g)")
			w.step(Step{Delete: []string{"PodGroup/default/g"}})
			w.claimsAre("")
		}},
		{"a pod's claim goes when the pod has ended", setup, func(w *world) {
			w.create(node("n", 4), devices(1, "n"), template("t"), pod("p", spec("resourceClaims", entries("own=t"))))
			w.settle()
			w.claimsAre("p-own-0(p)")
			w.step(Step{Finish: []string{"p"}})
			w.claimsAre("")
		}},
		{"a call that fails is made again once time has passed", setup, func(w *world) {
			w.fail("generate/g")
			w.create(template("t"), group("g", 2, "resourceClaims", entries("c=t")))
			w.happened("failed", "generate/g")
			w.step(Step{Advance: 1})
			w.claimsAre("g-c-0()")
		}},
		{"a call that is held keeps the claim from being made", setup, func(w *world) {
			w.hold("generate/g")
			w.create(template("t"), group("g", 2, "resourceClaims", entries("c=t")))
			w.claimsAre("")
			w.release("generate/g")
			w.claimsAre("g-c-0()")
		}},
		{"without the controller there is no claim", Setup{Gates: claiming}, func(w *world) {
			w.create(template("t"), group("g", 2, "resourceClaims", entries("c=t")))
			w.claimsAre("")
		}},
		// kubernetes#138407
		{"whoever is told of a second claim later is told of one and the other in turns", setup, func(w *world) {
			w.create(node("n", 4), devices(2, "n"), template("own"), group("g", 1, "resourceClaims", entries("c=shared")), pod("p", in("g"), spec("resourceClaims", entries("c=shared", "own=own"))))
			w.settle()
			w.create(template("shared"))
			w.settle()
			w.claimsAre("g-c-0() p-own-0()")
			w.bound("")
		}},
	})
	// kubernetes#141274
	play(t, Setup{ClaimController: true}, func(w *world) {
		uses := spec("resourceClaims", []any{object{"name": "c", "resourceClaimName": "claim"}})
		claim := object{"kind": "ResourceClaim", "metadata": object{"name": "claim"}, "spec": object{"devices": object{"requests": []any{object{"name": "r", "exactly": object{"deviceClassName": "dev"}}}}}}
		w.create(node("n", 4), devices(1, "n"), claim, podsOf("p1 p2", uses))
		w.settle()
		before := len(w.journal.events)
		w.step(Step{Finish: []string{"p1"}})
		w.step(Step{Advance: 10})
		writes := 0
		for _, e := range w.journal.events[before:] {
			if e.Ev == "claim" {
				writes++
			}
		}
		if writes < mostCallsAtOnce {
			t.Errorf("found %d writes to the claim of a pod that has ended, expected no end of them", writes)
		}
	})
}
